package main

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
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
	if claim, ok := obj.(*v1.NodeClaim); ok && isDifference(patch) && obj.GetResourceVersion() == old.GetResourceVersion() {
		s.replaceClaim(old, claim)
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

// replaceClaim stores what a difference to the stored NodeClaim gives: the changed object itself. By way of JSON it would
// take several times as long, and most patches are of NodeClaims.
func (s *store) replaceClaim(old client.Object, claim *v1.NodeClaim) {
	new := claim.DeepCopy()
	new.Status.LastPodEventTime.Time = wholeSeconds(new.Status.LastPodEventTime.Time)
	for i := range new.Status.Conditions {
		c := &new.Status.Conditions[i]
		c.LastTransitionTime.Time = wholeSeconds(c.LastTransitionTime.Time)
	}
	s.replace(old, new)
	new.DeepCopyInto(claim)
}

// wholeSeconds is how times are stored.
func wholeSeconds(t time.Time) time.Time { return t.Truncate(time.Second) }

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
