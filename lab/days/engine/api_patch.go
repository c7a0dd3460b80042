package main

import (
	"fmt"
	"net/http"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// patch changes an object, with dryRun only in the answer.
func (a *api) patch(t target, r request) (any, error) {
	kind := types.PatchType(r.ContentType)
	isOfKubernetes := t.group != "karpenter.sh"
	if kind != types.JSONPatchType && kind != types.MergePatchType && (kind != types.StrategicMergePatchType || !isOfKubernetes) {
		return nil, errors.NewGenericServerResponse(http.StatusUnsupportedMediaType, r.Method, t.groupResource(), t.name,
			fmt.Sprintf("the body of the request was in an unknown format: %q", r.ContentType), 0, false)
	}
	if kind == types.JSONPatchType {
		if _, err := jsonpatch.DecodePatch(r.Body); err != nil {
			return nil, errors.NewBadRequest(err.Error())
		}
	}
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	old := a.store.tables[t.of].get(types.NamespacedName{Namespace: t.namespace, Name: t.name})
	if old == nil {
		return nil, errors.NewNotFound(t.groupResource(), t.name)
	}
	new, err := patched(old, kind, r.Body)
	if err != nil && kind == types.JSONPatchType {
		return nil, errors.NewGenericServerResponse(http.StatusUnprocessableEntity, "", schema.GroupResource{}, "", err.Error(), 0, false)
	}
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	if err := checkIdentity(t, old, new); err != nil {
		return nil, err
	}
	if r.Query["dryRun"] == "All" {
		return a.dryRun(t, old, new, r), nil
	}
	if !reflect.DeepEqual(old, new) {
		a.writers.wrote(old, new, r.Query["fieldManager"])
		a.store.replace(old, new)
	}
	return a.encode(t.kind, new, wantsMetadata(r)), nil
}

// checkIdentity refuses a patch of another state of the object than it expects, and one that makes it another object.
func checkIdentity(t target, old, new client.Object) error {
	if new.GetName() != old.GetName() || new.GetNamespace() != old.GetNamespace() {
		return errors.NewBadRequest("the name of the object does not match the name on the URL")
	}
	if new.GetUID() != old.GetUID() {
		err := fmt.Errorf("Precondition failed: UID in precondition: %s, UID in object meta: %s", new.GetUID(), old.GetUID())
		return errors.NewConflict(t.groupResource(), t.name, err)
	}
	return nil
}

func (a *api) dryRun(t target, old, new client.Object, r request) any {
	trial := &api{writers: a.writers.copied(old), encoded: map[types.UID]encoding{}}
	trial.writers.wrote(old, new, r.Query["fieldManager"])
	return trial.encode(t.kind, new, wantsMetadata(r))
}
