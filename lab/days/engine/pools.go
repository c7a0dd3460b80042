package main

import (
	"encoding/json"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// object is JSON; objects of Karpenter are built from it, because their Go types differ by version.
type object map[string]any

// nodePool is a NodePool with the defaults that the real API server would fill in.
func nodePool(p poolConfig) (*v1.NodePool, error) {
	in := func(key string, values ...string) object {
		return object{"key": key, "operator": "In", "values": values}
	}
	spec := object{
		"requirements": []object{
			in(corev1.LabelArchStable, "amd64"),
			in(corev1.LabelOSStable, "linux"),
			in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
			in(corev1.LabelInstanceTypeStable, p.Types...),
		},
		"nodeClassRef": object{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
		"expireAfter":  "Never",
	}
	disruption := object{
		"consolidateAfter":    or(p.ConsolidateAfter, "0s"),
		"consolidationPolicy": or(p.ConsolidationPolicy, string(v1.ConsolidationPolicyWhenEmptyOrUnderutilized)),
		"budgets":             []object{{"nodes": "10%"}},
	}
	if len(p.Budgets) > 0 {
		disruption["budgets"] = p.Budgets
	}
	pool := object{
		"apiVersion": "karpenter.sh/v1",
		"kind":       "NodePool",
		"metadata":   object{"name": p.Name},
		"spec": object{
			"template":   object{"spec": spec},
			"disruption": disruption,
		},
	}
	data, err := json.Marshal(pool)
	if err != nil {
		return nil, err
	}
	np := &v1.NodePool{}
	return np, json.Unmarshal(data, np)
}

// nodeClass is ready, as a default of its CRD makes it.
func nodeClass() *v1alpha1.KWOKNodeClass {
	ready := status.Condition{
		Type: status.ConditionReady, Status: metav1.ConditionTrue, Reason: "Ready",
		ObservedGeneration: 1, LastTransitionTime: metav1.Now(),
	}
	return &v1alpha1.KWOKNodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default"},
		Status:     v1alpha1.KWOKNodeClassStatus{Conditions: []status.Condition{ready}},
	}
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
