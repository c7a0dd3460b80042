package main

import (
	"context"

	"github.com/awslabs/operatorpkg/controller"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
)

const karpenterVersion = "1.2.0"

func newControllers(ctx context.Context, mgr manager.Manager, c client.Client, recorder events.Recorder, provider cloudprovider.CloudProvider) []controller.Controller {
	clk := clock.RealClock{}
	cluster := state.NewCluster(clk, c, provider)
	return controllers.NewControllers(ctx, mgr, clk, c, recorder, provider, cluster)
}
