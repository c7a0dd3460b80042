package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
)

// provider is the cloud: Karpenter's kwok provider, whose instances boot and are paid for.
type provider struct {
	*kwok.CloudProvider
	w *world
}

func newProvider(ctx context.Context, w *world) provider {
	types := instanceTypes(w.config.InstanceTypes)
	return provider{kwok.NewCloudProvider(ctx, bootingNodes{w.store, w}, types), w}
}

func (p provider) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	created, err := p.CloudProvider.Create(ctx, claim)
	if err == nil {
		p.w.launched(claim.Name, created)
	}
	return created, err
}

var _ cloudprovider.CloudProvider = provider{}

// bootingNodes is the provider's client: a node joins the cluster when its instance has booted.
type bootingNodes struct {
	client.Client
	w *world
}

func (b bootingNodes) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	node := obj.(*corev1.Node).DeepCopy()
	b.w.boot(node)
	return nil
}

// boot lets a node join and become ready.
func (w *world) boot(node *corev1.Node) {
	w.mu.Lock()
	boot := w.random.within(w.config.Boot)
	w.mu.Unlock()
	// The kubelet registers its node some seconds before the network of the node is ready.
	notReady := min(8*time.Second, boot/2)
	name, claim := node.Name, node.Labels[corev1.LabelHostname]
	time.AfterFunc(boot-notReady, func() {
		if w.store.Get(w.ctx, client.ObjectKey{Name: claim}, &v1.NodeClaim{}) != nil {
			w.terminated(name) // Karpenter deleted it before it joined
			return
		}
		node.Status.Capacity = w.capacities[node.Labels[corev1.LabelInstanceTypeStable]]
		node.Spec.Taints = append(node.Spec.Taints, notReadyTaint)
		node.Status.Conditions = []corev1.NodeCondition{readyCondition(corev1.ConditionFalse)}
		if err := w.store.Create(w.ctx, node); err != nil {
			panic(err)
		}
		time.AfterFunc(notReady, func() { w.ready(name) })
	})
}
