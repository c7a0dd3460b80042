package main

import (
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// kind is what the API server serves under one path.
type kind struct {
	group, version, resource, name string
	of                             reflect.Type
}

// kinds are those that a holder reads; the other objects of the store are Karpenter's own affair.
var kinds = []kind{
	{"", "v1", "nodes", "Node", reflect.TypeFor[*corev1.Node]()},
	{"", "v1", "pods", "Pod", reflect.TypeFor[*corev1.Pod]()},
	{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", reflect.TypeFor[*policyv1.PodDisruptionBudget]()},
	{"karpenter.sh", "v1", "nodeclaims", "NodeClaim", reflect.TypeFor[*v1.NodeClaim]()},
}

func (k kind) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.group, Resource: k.resource}
}

func (k kind) apiVersion() string {
	return schema.GroupVersion{Group: k.group, Version: k.version}.String()
}

// resourceOf names the kind of an object in an error.
func resourceOf(obj client.Object) schema.GroupResource {
	t := reflect.TypeOf(obj)
	for _, k := range kinds {
		if k.of == t {
			return k.groupResource()
		}
	}
	return schema.GroupResource{Resource: strings.ToLower(t.Elem().Name()) + "s"}
}
