package main

import (
	"net/http"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// patch changes an object by a JSON Patch.
func (a *api) patch(t target, r request) (any, error) {
	if _, err := jsonpatch.DecodePatch(r.Body); err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	old := a.store.tables[t.of].get(types.NamespacedName{Namespace: t.namespace, Name: t.name})
	if old == nil {
		return nil, errors.NewNotFound(t.groupResource(), t.name)
	}
	new, err := patched(old, types.JSONPatchType, r.Body)
	if err != nil {
		return nil, errors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	if !reflect.DeepEqual(old, new) {
		a.store.replace(old, new)
	}
	return a.encode(t.kind, new, wantsMetadata(r)), nil
}
