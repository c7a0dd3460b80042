package main

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writers knows who wrote which label and annotation through the API, as managedFields show it. All other labels and
// annotations count as Karpenter's; other fields are not recorded.
type writers map[types.UID]map[string]*writer

// writer is one manager of fields.
type writer struct {
	at                  time.Time
	labels, annotations map[string]bool
}

const karpenterWriter = "karpenter"

func newWriter(at time.Time) *writer {
	return &writer{at, map[string]bool{}, map[string]bool{}}
}

// wrote records what a patch has changed.
func (w writers) wrote(old, new client.Object, manager string) {
	manager = or(manager, "unknown")
	known := w[old.GetUID()]
	if known == nil {
		known = map[string]*writer{}
		w[old.GetUID()] = known
	}
	by := newWriter(time.Now())
	if before := known[manager]; before != nil {
		by.labels, by.annotations = before.labels, before.annotations
	}
	known[manager] = by
	record := func(before, after map[string]string, ownedBy func(*writer) map[string]bool) {
		for key, value := range after {
			if old, isThere := before[key]; isThere && old == value {
				continue
			}
			for _, other := range known {
				delete(ownedBy(other), key)
			}
			ownedBy(by)[key] = true
		}
	}
	record(old.GetLabels(), new.GetLabels(), func(w *writer) map[string]bool { return w.labels })
	record(old.GetAnnotations(), new.GetAnnotations(), func(w *writer) map[string]bool { return w.annotations })
}

// of are the managedFields of an object.
func (w writers) of(obj client.Object) []metav1.ManagedFieldsEntry {
	rest := newWriter(obj.GetCreationTimestamp().Time)
	for key := range obj.GetLabels() {
		rest.labels[key] = true
	}
	for key := range obj.GetAnnotations() {
		rest.annotations[key] = true
	}
	var entries []metav1.ManagedFieldsEntry
	known := w[obj.GetUID()]
	for _, manager := range slices.Sorted(maps.Keys(known)) {
		by := known[manager]
		own := newWriter(by.at)
		take(own.labels, by.labels, rest.labels)
		take(own.annotations, by.annotations, rest.annotations)
		if len(own.labels)+len(own.annotations) > 0 {
			entries = append(entries, own.entry(manager))
		}
	}
	return append(entries, rest.entry(karpenterWriter))
}

// take moves the keys that are still there.
func take(to, owned, present map[string]bool) {
	for key := range owned {
		if present[key] {
			to[key] = true
			delete(present, key)
		}
	}
}

func (w *writer) entry(manager string) metav1.ManagedFieldsEntry {
	metadata := map[string]any{}
	add := func(name string, keys map[string]bool) {
		if len(keys) == 0 {
			return
		}
		set := map[string]any{".": object{}}
		for key := range keys {
			set["f:"+key] = object{}
		}
		metadata[name] = set
	}
	add("f:annotations", w.annotations)
	add("f:labels", w.labels)
	raw, err := json.Marshal(object{"f:metadata": metadata})
	must(err)
	at := metav1.NewTime(w.at)
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
		FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: raw},
	}
}

// copied is a copy of what is known about one object.
func (w writers) copied(obj client.Object) writers {
	known := map[string]*writer{}
	for manager, by := range w[obj.GetUID()] {
		known[manager] = &writer{by.at, maps.Clone(by.labels), maps.Clone(by.annotations)}
	}
	return writers{obj.GetUID(): known}
}
