package main

import (
	"context"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// List reads from the index of the first field that is asked for.
func (s *store) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	o := client.ListOptions{}
	o.ApplyOptions(opts)
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	element := items.Type().Elem()
	isPointer := element.Kind() == reflect.Pointer
	if !isPointer {
		element = reflect.PointerTo(element)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	tb := s.tables[element]
	if tb == nil {
		items.Set(reflect.MakeSlice(items.Type(), 0, 0))
		return nil
	}
	objects := tb.withFields(o, element)
	out := reflect.MakeSlice(items.Type(), 0, len(objects))
	for key, obj := range objects {
		if o.Namespace != "" && key.Namespace != o.Namespace {
			continue
		}
		if o.LabelSelector != nil && !o.LabelSelector.Matches(labelSet(obj.GetLabels())) {
			continue
		}
		// Nobody changes the parts of a pod here, so copies share them.
		_, isShared := obj.(*corev1.Pod)
		isShared = isShared || o.UnsafeDisableDeepCopy != nil && *o.UnsafeDisableDeepCopy
		if isPointer || !isShared {
			obj = obj.DeepCopyObject().(client.Object)
		}
		v := reflect.ValueOf(obj)
		if !isPointer {
			v = v.Elem()
		}
		out = reflect.Append(out, v)
	}
	items.Set(out)
	return nil
}

// withFields are the objects that match a field selector.
func (tb *table) withFields(o client.ListOptions, element reflect.Type) map[types.NamespacedName]client.Object {
	objects := tb.objects
	if o.FieldSelector == nil || o.FieldSelector.Empty() {
		return objects
	}
	for i, r := range o.FieldSelector.Requirements() {
		if r.Field == "metadata.name" {
			continue
		}
		of, isIndexed := tb.fields[r.Field]
		if !isIndexed {
			panic("there is no index for " + r.Field + " of " + element.String())
		}
		if i == 0 {
			objects = tb.index[r.Field][r.Value]
			continue
		}
		rest := map[types.NamespacedName]client.Object{}
		for key, obj := range objects {
			if values := of(obj); len(values) > 0 && values[0] == r.Value {
				rest[key] = obj
			}
		}
		objects = rest
	}
	return objects
}

// labelSet is a map of labels as a selector reads it, without a copy.
type labelSet map[string]string

func (l labelSet) Has(key string) bool              { _, ok := l[key]; return ok }
func (l labelSet) Get(key string) string            { return l[key] }
func (l labelSet) Lookup(key string) (string, bool) { v, ok := l[key]; return v, ok }
