package main

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// service is a Deployment with its ReplicaSets.
type service struct {
	serviceTrace
	replicas int
	version  int
	sets     []*replicaSet // the newest is the last
}

// replicaSet has the pods of one version that are not terminating.
type replicaSet struct {
	version  string
	replicas int
	pods     map[string]*pod
}

func newService(t serviceTrace) *service {
	s := &service{serviceTrace: t, replicas: t.Replicas}
	s.rollOut()
	return s
}

func (s *service) rollOut() {
	s.version++
	s.sets = append(s.sets, &replicaSet{version: fmt.Sprint(s.version), pods: map[string]*pod{}})
}

func (s *service) setOf(version string) *replicaSet {
	for _, set := range s.sets {
		if set.version == version {
			return set
		}
	}
	return &replicaSet{pods: map[string]*pod{}}
}

// change scales a service or rolls it out.
func (w *world) change(s *service, replicas *int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if replicas == nil {
		s.rollOut()
	} else {
		s.replicas = *replicas
	}
	w.awake()
}

// available is the number of ready pods.
func (r *replicaSet) available() int {
	n := 0
	for _, p := range r.pods {
		if !p.readySince.IsZero() {
			n++
		}
	}
	return n
}

func share(of *float64, by float64) float64 {
	if of != nil {
		by = *of
	}
	return by
}

// roll sets the sizes of the ReplicaSets as a Deployment's rolling update does. A change of the size during a rollout is
// not shared out in proportion.
func (s *service) roll() {
	newest := s.sets[len(s.sets)-1]
	old := s.sets[:len(s.sets)-1]
	replicas := float64(s.replicas)
	surge := int(math.Ceil(replicas*share(s.Surge, 0.25) - 1e-9))
	unavailable := int(math.Floor(replicas*share(s.Unavailable, 0.25) + 1e-9))
	if surge == 0 && unavailable == 0 {
		unavailable = 1
	}
	ofOld, available := 0, newest.available()
	for _, set := range old {
		ofOld += set.replicas
		available += set.available()
	}
	if ofOld == 0 {
		newest.replicas = s.replicas
	} else {
		room := max(0, s.replicas+surge-ofOld-newest.replicas)
		newest.replicas = min(s.replicas, newest.replicas+room)
	}
	least := s.replicas - unavailable
	excess := ofOld + newest.replicas - least - max(0, newest.replicas-newest.available())
	// Pods that are not ready go first, because they serve nobody.
	for _, set := range old {
		down := max(0, min(excess, set.replicas-set.available()))
		set.replicas -= down
		excess -= down
	}
	excess = min(excess, available-least)
	for _, set := range old {
		down := max(0, min(excess, set.replicas))
		set.replicas -= down
		excess -= down
	}
	s.sets = slices.DeleteFunc(s.sets, func(set *replicaSet) bool {
		return set != newest && set.replicas == 0 && len(set.pods) == 0
	})
}

// reconcileServices does what the controllers of Deployments and ReplicaSets do.
func (w *world) reconcileServices() {
	var create []*corev1.Pod
	var remove []string
	w.mu.Lock()
	for _, s := range w.services {
		s.roll()
		for _, set := range s.sets {
			for range set.replicas - len(set.pods) {
				create = append(create, w.servicePod(s, set.version))
			}
			remove = append(remove, s.surplus(set, time.Now())...)
		}
	}
	w.mu.Unlock()
	for _, p := range create {
		if err := w.store.Create(w.ctx, p); err != nil {
			panic(err)
		}
	}
	for _, name := range remove {
		w.deletePod(name)
	}
}

func (w *world) servicePod(s *service, version string) *corev1.Pod {
	w.serial++
	p := w.podObject(podSpec{
		name:   fmt.Sprintf("%s-%s-%d", s.Name, version, w.serial),
		image:  s.Name + ":" + version,
		labels: map[string]string{serviceLabel: s.Name, versionLabel: version},
		cpu:    s.CPU.Quantity, memory: s.Memory.Quantity,
		pool:         s.Pool,
		doNotDisrupt: s.DoNotDisrupt,
		owner: metav1.OwnerReference{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: s.Name + "-" + version,
			UID: uidOf(w.config.Seed, "replicaset "+s.Name+version),
		},
	})
	if s.Spread {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{serviceLabel: s.Name}},
		}}
	}
	return p
}

// surplus chooses the pods that a ReplicaSet deletes: waiting ones first, then those that are not ready, then those on
// nodes with more pods of the Deployment, then those ready for less time on a logarithmic scale, then by uid.
func (s *service) surplus(set *replicaSet, now time.Time) []string {
	count := len(set.pods) - set.replicas
	if count <= 0 {
		return nil
	}
	beside := map[string]int{}
	for _, other := range s.sets {
		for _, p := range other.pods {
			beside[p.node]++
		}
	}
	type ranked struct {
		*pod
		rank [4]int
	}
	var all []ranked
	for _, p := range set.pods {
		r := ranked{pod: p}
		switch {
		case p.node == "":
			r.rank = [4]int{0, 0, 0, 0}
		case p.obj.Status.Phase == corev1.PodPending:
			r.rank = [4]int{1, -beside[p.node], 0, 0}
		case p.readySince.IsZero():
			r.rank = [4]int{2, -beside[p.node], 0, 0}
		default:
			r.rank = [4]int{3, -beside[p.node], logarithm(now.Sub(p.readySince)), 0}
		}
		all = append(all, r)
	}
	sort.Slice(all, func(i, j int) bool {
		if c := slices.Compare(all[i].rank[:], all[j].rank[:]); c != 0 {
			return c < 0
		}
		return all[i].obj.UID < all[j].obj.UID
	})
	var names []string
	for _, r := range all[:count] {
		names = append(names, r.name)
	}
	return names
}

func logarithm(age time.Duration) int {
	if age <= 0 {
		return -1
	}
	return int(math.Log2(float64(age)))
}
