package main

import (
	"context"

	"github.com/awslabs/operatorpkg/controller"
	"github.com/samber/lo"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/nodeoverlay"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/state/prediction"
)

const karpenterVersion = "1.15.0"

func newControllers(ctx context.Context, mgr manager.Manager, c client.Client, recorder events.Recorder, bare cloudprovider.CloudProvider) []controller.Controller {
	clk := clock.RealClock{}
	instances := nodeoverlay.NewInstanceTypeStore()
	decorated := overlay.Decorate(bare, c, instances)
	matcher := lo.Must(health.NewRepairPolicyMatcher(ctx, decorated))
	cluster := state.NewCluster(clk, c, decorated, state.WithRepairPolicyMatcher(matcher))
	return controllers.NewControllers(ctx, mgr, clk, c, recorder, decorated, bare, cluster, instances, prediction.NewStore())
}
