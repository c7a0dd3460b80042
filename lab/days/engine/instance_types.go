package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// All nodes are in one zone: without volumes a zone decides nothing that is measured here.
const zone = "zone-a"

func instanceTypes(types []typeConfig) []*cloudprovider.InstanceType {
	var all []*cloudprovider.InstanceType
	for _, t := range types {
		all = append(all, instanceType(t))
	}
	return all
}

func instanceType(t typeConfig) *cloudprovider.InstanceType {
	in := func(key string, values ...string) *scheduling.Requirement {
		return scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, values...)
	}
	offering := cloudprovider.Offerings{{
		Requirements: scheduling.NewRequirements(
			in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand), in(corev1.LabelTopologyZone, zone)),
		Price:     t.Price,
		Available: true,
	}}
	return &cloudprovider.InstanceType{
		Name: t.Name,
		Requirements: scheduling.NewRequirements(
			in(corev1.LabelInstanceTypeStable, t.Name),
			in(corev1.LabelArchStable, "amd64"),
			in(corev1.LabelOSStable, "linux"),
			in(corev1.LabelTopologyZone, zone),
			in(v1.CapacityTypeLabelKey, v1.CapacityTypeOnDemand),
		),
		Offerings: offering,
		Capacity: corev1.ResourceList{
			corev1.ResourceCPU:    t.CPU.Quantity,
			corev1.ResourceMemory: t.Memory.Quantity,
			corev1.ResourcePods:   *resource.NewQuantity(t.Pods, resource.DecimalSI),
		},
		Overhead: &cloudprovider.InstanceTypeOverhead{
			KubeReserved: corev1.ResourceList{
				corev1.ResourceCPU:    t.ReservedCPU.Quantity,
				corev1.ResourceMemory: t.ReservedMemory.Quantity,
			},
		},
	}
}
