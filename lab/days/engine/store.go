package main

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	corev1 "k8s.io/api/core/v1"
)

// store is an API server in memory, and serves as both client and cache of controller-runtime. A stored object is never
// changed, only replaced. It sets no defaults and validates nothing.
type store struct {
	client.Client // nil: the store answers all calls that Karpenter makes, and any other panics
	mu            sync.RWMutex
	tables        map[reflect.Type]*table
	version       int
	serial        int
	changes       chan objectChange
	watchers      []func(old, new client.Object)
	informers     informers
}

// table holds the objects of one kind and the indexes of its fields.
type table struct {
	objects map[types.NamespacedName]client.Object
	fields  map[string]client.IndexerFunc
	index   map[string]map[string]map[types.NamespacedName]client.Object
}

// objectChange is an event of a watch; old is nil for a new object, new for one that is gone.
type objectChange struct{ old, new client.Object }

func newStore() *store {
	return &store{
		tables:    map[reflect.Type]*table{},
		changes:   make(chan objectChange, 1<<20),
		informers: newInformers(),
	}
}

// deliver gives changes to informers and watchers, in their order.
func (s *store) deliver() {
	for c := range s.changes {
		s.informers.notify(c)
		for _, watch := range s.watchers {
			watch(c.old, c.new)
		}
	}
}

// table is that of a kind; the lock is held for writing.
func (s *store) table(t reflect.Type) *table {
	tb := s.tables[t]
	if tb == nil {
		tb = &table{
			objects: map[types.NamespacedName]client.Object{},
			fields:  map[string]client.IndexerFunc{},
			index:   map[string]map[string]map[types.NamespacedName]client.Object{},
		}
		s.tables[t] = tb
	}
	return tb
}

func (tb *table) get(key client.ObjectKey) client.Object {
	if tb == nil {
		return nil
	}
	return tb.objects[key]
}

func (tb *table) reindex(key types.NamespacedName, old, new client.Object) {
	for field, of := range tb.fields {
		if old != nil {
			for _, v := range of(old) {
				delete(tb.index[field][v], key)
			}
		}
		if new != nil {
			for _, v := range of(new) {
				if tb.index[field][v] == nil {
					tb.index[field][v] = map[types.NamespacedName]client.Object{}
				}
				tb.index[field][v][key] = new
			}
		}
	}
}

// put stores a change and announces it; the lock is held.
func (s *store) put(old, new client.Object) {
	obj := new
	if obj == nil {
		obj = old
	}
	tb := s.table(reflect.TypeOf(obj))
	key := client.ObjectKeyFromObject(obj)
	if new == nil {
		delete(tb.objects, key)
	} else {
		s.version++
		new.SetResourceVersion(strconv.Itoa(s.version))
		tb.objects[key] = new
	}
	tb.reindex(key, old, new)
	s.changes <- objectChange{old, new}
}

func (s *store) Get(_ context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	s.mu.RLock()
	found := s.tables[reflect.TypeOf(obj)].get(key)
	s.mu.RUnlock()
	if found == nil {
		return notFound(obj, key.Name)
	}
	assign(obj, found)
	return nil
}

func (s *store) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	if obj.GetName() == "" {
		obj.SetName(obj.GetGenerateName() + fmt.Sprintf("%05d", s.serial))
	}
	key := client.ObjectKeyFromObject(obj)
	if s.table(reflect.TypeOf(obj)).objects[key] != nil {
		return errors.NewAlreadyExists(resourceOf(obj), key.Name)
	}
	if obj.GetUID() == "" {
		obj.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.serial)))
	}
	obj.SetCreationTimestamp(metav1.Time{Time: time.Now().Truncate(time.Second)})
	obj.SetGeneration(1)
	stored := obj.DeepCopyObject().(client.Object)
	s.put(nil, stored)
	obj.SetResourceVersion(stored.GetResourceVersion())
	return nil
}

func (s *store) Update(_ context.Context, obj client.Object, _ ...client.UpdateOption) error {
	return s.update(obj)
}

func (s *store) update(obj client.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.tables[reflect.TypeOf(obj)].get(client.ObjectKeyFromObject(obj))
	if old == nil {
		return notFound(obj, obj.GetName())
	}
	if v := obj.GetResourceVersion(); v != "" && v != old.GetResourceVersion() {
		return conflict(obj)
	}
	new := obj.DeepCopyObject().(client.Object)
	s.replace(old, new)
	obj.SetResourceVersion(new.GetResourceVersion())
	return nil
}

// replace stores the new state of an object, which may end it; the lock is held.
func (s *store) replace(old, new client.Object) {
	if _, isPod := new.(*corev1.Pod); !isPod && new.GetDeletionTimestamp() != nil && len(new.GetFinalizers()) == 0 {
		s.put(old, nil)
		return
	}
	if reflect.DeepEqual(old, new) {
		return
	}
	if before, after := specOf(old), specOf(new); before.IsValid() && !reflect.DeepEqual(before.Interface(), after.Interface()) {
		new.SetGeneration(old.GetGeneration() + 1)
	}
	s.put(old, new)
}

func (s *store) Delete(_ context.Context, obj client.Object, opts ...client.DeleteOption) error {
	o := client.DeleteOptions{}
	o.ApplyOptions(opts)
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.tables[reflect.TypeOf(obj)].get(client.ObjectKeyFromObject(obj))
	if old == nil {
		return notFound(obj, obj.GetName())
	}
	if p := o.Preconditions; p != nil && p.UID != nil && *p.UID != old.GetUID() {
		return conflict(obj)
	}
	grace := graceOf(old)
	if o.GracePeriodSeconds != nil {
		grace = seconds(float64(*o.GracePeriodSeconds))
	}
	if len(old.GetFinalizers()) == 0 && grace == 0 {
		s.put(old, nil)
		return nil
	}
	if old.GetDeletionTimestamp() == nil {
		new := old.DeepCopyObject().(client.Object)
		new.SetGeneration(old.GetGeneration() + 1)
		new.SetDeletionTimestamp(&metav1.Time{Time: time.Now().Add(grace).Truncate(time.Second)})
		s.put(old, new)
	}
	return nil
}

func (s *store) Scheme() *runtime.Scheme     { return scheme.Scheme }
func (s *store) RESTMapper() meta.RESTMapper { return meta.NewDefaultRESTMapper(nil) }
func (s *store) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(obj, scheme.Scheme)
}
func (s *store) IsObjectNamespaced(runtime.Object) (bool, error) { return false, nil }
