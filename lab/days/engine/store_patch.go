package main

import (
	"context"
	"encoding/json"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (s *store) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return s.patch(obj, patch)
}

func (s *store) patch(obj client.Object, patch client.Patch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.tables[reflect.TypeOf(obj)].get(client.ObjectKeyFromObject(obj))
	if old == nil {
		return notFound(obj, obj.GetName())
	}
	// A difference to what is stored gives the object itself. JSON would take several times as long.
	if isDifference(patch) && obj.GetResourceVersion() == old.GetResourceVersion() {
		new := obj.DeepCopyObject().(client.Object)
		s.replace(old, new)
		obj.SetResourceVersion(new.GetResourceVersion())
		obj.SetGeneration(new.GetGeneration())
		return nil
	}
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	if string(data) == "{}" {
		assign(obj, old)
		return nil
	}
	var expected struct {
		Metadata struct{ ResourceVersion *string }
	}
	if json.Unmarshal(data, &expected) == nil {
		if v := expected.Metadata.ResourceVersion; v != nil && *v != old.GetResourceVersion() {
			return conflict(obj)
		}
	}
	new, err := patched(old, patch.Type(), data)
	if err != nil {
		return err
	}
	s.replace(old, new)
	assign(obj, new)
	return nil
}

// isDifference is whether a patch is the difference of an object to a former state of it.
func isDifference(patch client.Patch) bool {
	return reflect.TypeOf(patch) == differenceType
}

var differenceType = reflect.TypeOf(client.MergeFrom(nil))

// patched is a changed copy of an object.
func patched(old client.Object, kind types.PatchType, data []byte) (client.Object, error) {
	before, err := json.Marshal(old)
	if err != nil {
		return nil, err
	}
	var after []byte
	switch kind {
	case types.MergePatchType:
		after, err = jsonpatch.MergePatch(before, data)
	case types.StrategicMergePatchType:
		after, err = strategicpatch.StrategicMergePatch(before, data, old)
	case types.JSONPatchType:
		var patch jsonpatch.Patch
		if patch, err = jsonpatch.DecodePatch(data); err == nil {
			after, err = patch.Apply(before)
		}
	default:
		panic("patch of type " + kind)
	}
	if err != nil {
		return nil, err
	}
	new := reflect.New(reflect.TypeOf(old).Elem()).Interface().(client.Object)
	if err := json.Unmarshal(after, new); err != nil {
		return nil, err
	}
	new.SetResourceVersion(old.GetResourceVersion())
	return new, nil
}
