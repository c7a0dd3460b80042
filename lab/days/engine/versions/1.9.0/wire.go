package main

import (
	"context"

	"github.com/awslabs/operatorpkg/controller"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
)

const karpenterVersion = "1.9.0"

func newControllers(ctx context.Context, mgr manager.Manager, c client.Client, recorder events.Recorder, bare cloudprovider.CloudProvider) []controller.Controller {
	clk := clock.RealClock{}
	instances := nodeoverlay.NewInstanceTypeStore()
	decorated := overlay.Decorate(bare, c, instances)
	cluster := state.NewCluster(clk, c, decorated)
	return controllers.NewControllers(ctx, mgr, clk, c, recorder, decorated, bare, cluster, instances)
}
