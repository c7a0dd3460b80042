package main

import (
	"fmt"
	"strings"

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
	pods := t.podLimit()
	cpu, memory := t.reserved()
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
			corev1.ResourcePods:   *resource.NewQuantity(pods, resource.DecimalSI),
		},
		Overhead: &cloudprovider.InstanceTypeOverhead{
			KubeReserved: corev1.ResourceList{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory},
		},
	}
}

// podLimit is by default that of Kubernetes.
func (t typeConfig) podLimit() int64 {
	if t.Pods > 0 {
		return t.Pods
	}
	return 110
}

// reserved is by default what the AMIs of EKS keep for the kubelet and for eviction: of the first core 6 %, of the
// second 1 %, of the next two 0.5 % and of the others 0.25 %; 355 MiB and 11 MiB for each pod.
func (t typeConfig) reserved() (cpu, memory resource.Quantity) {
	cores := float64(t.CPU.MilliValue()) / 1000
	share := func(from, to, of float64) float64 { return 1000 * of * max(0, min(cores, to)-from) }
	milli := share(0, 1, 0.06) + share(1, 2, 0.01) + share(2, 4, 0.005) + share(4, cores, 0.0025)
	cpu = *resource.NewMilliQuantity(int64(milli), resource.DecimalSI)
	memory = resource.MustParse(fmt.Sprintf("%dMi", 355+11*t.podLimit()))
	if t.ReservedCPU != nil {
		cpu = t.ReservedCPU.Quantity
	}
	if t.ReservedMemory != nil {
		memory = t.ReservedMemory.Quantity
	}
	return cpu, memory
}

// typesOf are the names of the instance types of a NodePool; by default all.
func typesOf(p poolConfig, all []typeConfig) []string {
	var names []string
	for _, t := range all {
		isWanted := len(p.Types) == 0
		for _, name := range p.Types {
			prefix, isPrefix := strings.CutSuffix(name, "*")
			isWanted = isWanted || t.Name == name || isPrefix && strings.HasPrefix(t.Name, prefix)
		}
		if isWanted {
			names = append(names, t.Name)
		}
	}
	return names
}
