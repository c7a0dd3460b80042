package main

import (
	"encoding/base64"
	"reflect"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type list struct {
	Kind       string          `json:"kind"`
	APIVersion string          `json:"apiVersion"`
	Metadata   metav1.ListMeta `json:"metadata"`
	Items      []any           `json:"items"`
}

// list is one page, in the order of the keys as etcd has them.
func (a *api) list(t target, r request) (any, error) {
	matches, err := filter(t, r.Query)
	if err != nil {
		return nil, err
	}
	limit, err := strconv.Atoi(or(r.Query["limit"], "0"))
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	after, err := base64.RawURLEncoding.DecodeString(r.Query["continue"])
	if err != nil {
		return nil, errors.NewBadRequest("continue key is not valid: " + err.Error())
	}
	found, version := a.matching(t, matches, string(after))
	page := list{Kind: t.kind.name + "List", APIVersion: t.apiVersion(), Items: []any{}}
	if wantsMetadata(r) {
		page.Kind, page.APIVersion = "PartialObjectMetadataList", metadataVersion
	}
	page.Metadata.ResourceVersion = version
	if limit > 0 && len(found) > limit {
		// The server counts the rest only where it need not filter.
		if rest := int64(len(found) - limit); r.Query["labelSelector"] == "" && r.Query["fieldSelector"] == "" {
			page.Metadata.RemainingItemCount = &rest
		}
		found = found[:limit]
		page.Metadata.Continue = base64.RawURLEncoding.EncodeToString([]byte(keyOf(found[limit-1])))
	}
	for _, obj := range found {
		page.Items = append(page.Items, a.encode(kind{of: t.of}, obj, wantsMetadata(r)))
	}
	return page, nil
}

func keyOf(obj client.Object) string { return obj.GetNamespace() + "/" + obj.GetName() }

func (a *api) matching(t target, matches func(client.Object) bool, after string) ([]client.Object, string) {
	a.store.mu.RLock()
	defer a.store.mu.RUnlock()
	var found []client.Object
	if tb := a.store.tables[t.of]; tb != nil {
		for key, obj := range tb.objects {
			if (t.namespace == "" || key.Namespace == t.namespace) && matches(obj) && keyOf(obj) > after {
				found = append(found, obj)
			}
		}
	}
	slices.SortFunc(found, func(x, y client.Object) int { return strings.Compare(keyOf(x), keyOf(y)) })
	return found, strconv.Itoa(a.store.version)
}

// filter is that of the selectors in a query.
func filter(t target, query map[string]string) (func(client.Object) bool, error) {
	byLabel, err := labels.Parse(query["labelSelector"])
	if err != nil {
		return nil, errors.NewBadRequest("unable to parse requirement: " + err.Error())
	}
	byField, err := fields.ParseSelector(query["fieldSelector"])
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	none := fieldsOf(reflect.New(t.of.Elem()).Interface().(client.Object))
	for _, r := range byField.Requirements() {
		if !none.Has(r.Field) {
			return nil, errors.NewBadRequest("field label not supported: " + r.Field)
		}
	}
	return func(obj client.Object) bool {
		return byLabel.Matches(labelSet(obj.GetLabels())) && (byField.Empty() || byField.Matches(fieldsOf(obj)))
	}, nil
}

// fieldsOf are the fields by which objects of a kind are selected.
func fieldsOf(obj client.Object) fields.Set {
	set := fields.Set{"metadata.name": obj.GetName(), "metadata.namespace": obj.GetNamespace()}
	if p, ok := obj.(*corev1.Pod); ok {
		set["spec.nodeName"] = p.Spec.NodeName
		set["status.phase"] = string(p.Status.Phase)
	}
	return set
}
