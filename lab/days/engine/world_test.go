package main

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// emptyWorld has no Karpenter; it needs a bubble, and sees changes when the test calls settle.
func emptyWorld(t *testing.T, work trace) *world {
	t.Helper()
	c := config{
		Seed: 1, Start: time.Now().Add(-time.Hour), Trace: work,
		PodStart: 3600, PodStop: 1, JobRetry: 10, // only makeReady starts pods
		Pools:         []poolConfig{{Name: "default"}},
		InstanceTypes: []typeConfig{{Name: "m.xlarge", CPU: quantityOf("4"), Memory: quantityOf("16Gi")}},
	}
	w := newWorld(context.Background(), c, newStore())
	for _, s := range work.Services {
		w.services = append(w.services, newService(s))
	}
	return w
}

func quantityOf(text string) quantity { return quantity{resource.MustParse(text)} }

// settle lets the watch see all changes so far.
func (w *world) settle() {
	for synctest.Wait(); len(w.store.changes) > 0; synctest.Wait() {
		c := <-w.store.changes
		w.see(c.old, c.new)
	}
}

func (w *world) addNode(t *testing.T, name, cpu string) {
	t.Helper()
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("16Gi"),
		corev1.ResourcePods: resource.MustParse("110"),
	}
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	n.Status.Allocatable = room
	n.Status.Conditions = []corev1.NodeCondition{readyCondition(corev1.ConditionTrue)}
	create(t, w, n)
}

func (w *world) addPod(t *testing.T, s podSpec) {
	t.Helper()
	create(t, w, w.podObject(s))
}

func create(t *testing.T, w *world, o client.Object) {
	t.Helper()
	if err := w.store.Create(w.ctx, o); err != nil {
		t.Fatal(err)
	}
	w.settle()
}

func (w *world) nodeOf(name string) string {
	p := &corev1.Pod{}
	if err := w.store.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: name}, p); err != nil {
		return err.Error()
	}
	return p.Spec.NodeName
}

// makeReady is what the kubelet does for all pods.
func (w *world) makeReady() {
	for name, p := range w.pods {
		if p.node != "" {
			w.setRunning(name, true)
		}
	}
	w.settle()
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if g, w := asJSON(got), asJSON(want); g != w {
		t.Errorf("%s: got %s, want %s", what, g, w)
	}
}

func asJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}
