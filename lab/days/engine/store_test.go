package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var background = context.Background()

func storedNode(t *testing.T, s *store, finalizers ...string) *corev1.Node {
	t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Finalizers: finalizers, Labels: map[string]string{"k": "v"}}}
	if err := s.Create(background, n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAnUpdateOfAnOldStateIsAConflict(t *testing.T) {
	s := newStore()
	n := storedNode(t, s)
	old := n.DeepCopy()
	n.Spec.Unschedulable = true
	if err := s.Update(background, n); err != nil {
		t.Fatal(err)
	}
	old.Labels["k"] = "other"
	if err := s.Update(background, old); !errors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
}

func TestAPatchWithALockOnAnOldStateIsAConflict(t *testing.T) {
	s := newStore()
	n := storedNode(t, s)
	old := n.DeepCopy()
	n.Spec.Unschedulable = true
	_ = s.Update(background, n)
	changed := old.DeepCopy()
	changed.Labels["k"] = "other"
	locked := client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
	if err := s.Patch(background, changed.DeepCopy(), locked); !errors.IsConflict(err) {
		t.Errorf("got %v", err)
	}
	if err := s.Patch(background, changed, client.MergeFrom(old)); err != nil {
		t.Fatal(err)
	}
	equal(t, "both changes", []any{changed.Spec.Unschedulable, changed.Labels["k"]}, []any{true, "other"})
}

func TestAFinalizerKeepsADeletedObject(t *testing.T) {
	s := newStore()
	n := storedNode(t, s, "example.com/wait")
	if err := s.Delete(background, n); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(background, client.ObjectKey{Name: "a"}, n); err != nil || n.DeletionTimestamp == nil {
		t.Fatalf("got %v, deleted at %v", err, n.DeletionTimestamp)
	}
	before := n.DeepCopy()
	n.Finalizers = nil
	if err := s.Patch(background, n, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	if err := s.Get(background, client.ObjectKey{Name: "a"}, n); !errors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}

func TestWhatAReaderChangesIsNotStored(t *testing.T) {
	s := newStore()
	n := storedNode(t, s)
	n.Labels["k"] = "changed"
	var list corev1.NodeList
	if err := s.List(background, &list); err != nil {
		t.Fatal(err)
	}
	equal(t, "label", list.Items[0].Labels["k"], "v")
	list.Items[0].Labels["k"] = "changed"
	_ = s.Get(background, client.ObjectKey{Name: "a"}, n)
	equal(t, "label", n.Labels["k"], "v")
}

func TestAnIndexFollowsChanges(t *testing.T) {
	s := newStore()
	byID := func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} }
	_ = storeCache{s}.IndexField(background, &corev1.Node{}, "spec.providerID", byID)
	n := storedNode(t, s)
	n.Spec.ProviderID = "one"
	_ = s.Update(background, n)
	found := func(id string) int {
		var list corev1.NodeList
		if err := s.List(background, &list, client.MatchingFields{"spec.providerID": id}); err != nil {
			t.Fatal(err)
		}
		return len(list.Items)
	}
	equal(t, "found", []int{found(""), found("one")}, []int{0, 1})
	_ = s.Delete(background, n)
	equal(t, "found", found("one"), 0)
}
