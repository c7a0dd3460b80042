package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/awslabs/operatorpkg/controller"
	"github.com/go-logr/logr"
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	_ "sigs.k8s.io/karpenter/pkg/apis"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
)

// quietManager has no API server to which it could write its own events.
type quietManager struct{ manager.Manager }

func (quietManager) GetEventRecorderFor(string) record.EventRecorder { return &record.FakeRecorder{} }

// startKarpenter runs Karpenter's own controllers on the store.
func startKarpenter(ctx context.Context, w *world, logger logr.Logger) {
	ctx = withOptions(ctx, w.config.Batch)
	log.SetLogger(logger)
	ctx = log.IntoContext(ctx, logger)
	mgr := quietManager{lo.Must(ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme:                 scheme.Scheme,
		Logger:                 logger,
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		BaseContext:            func() context.Context { return ctx },
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return meta.NewDefaultRESTMapper(nil), nil
		},
		NewCache:  func(*rest.Config, cache.Options) (cache.Cache, error) { return storeCache{w.store}, nil },
		NewClient: func(*rest.Config, client.Options) (client.Client, error) { return w.store, nil },
	}))}
	indexFields(ctx, mgr.GetFieldIndexer())
	recorder := events.NewRecorder(eventRecorder{w})
	for _, c := range newControllers(ctx, mgr, w.store, recorder, newProvider(ctx, w)) {
		if !servesMetrics(c) {
			lo.Must0(c.Register(ctx, mgr))
		}
	}
	go func() { lo.Must0(mgr.Start(ctx)) }()
}

// servesMetrics is true for the controllers that Karpenter itself leaves out with --disable-cluster-state-observability,
// which its older versions do not have.
func servesMetrics(c controller.Controller) bool {
	of := reflect.TypeOf(c).Elem().PkgPath()
	return strings.HasPrefix(of, "sigs.k8s.io/karpenter/pkg/controllers/metrics/") || of == "github.com/awslabs/operatorpkg/status"
}

// withOptions parses Karpenter's options as its operator does.
func withOptions(ctx context.Context, batch span) context.Context {
	for _, o := range options.Injectables {
		fs := &options.FlagSet{FlagSet: flag.NewFlagSet("karpenter", flag.PanicOnError)}
		o.AddFlags(fs)
		var args []string
		if _, ok := o.(*options.Options); ok {
			args = []string{
				fmt.Sprintf("--batch-idle-duration=%gs", batch[0]),
				fmt.Sprintf("--batch-max-duration=%gs", batch[1]),
				"--disable-leader-election=true",
			}
		}
		lo.Must0(o.Parse(fs, args...))
		ctx = o.ToContext(ctx)
	}
	return ctx
}

// indexFields adds the indexes that Karpenter's operator adds.
func indexFields(ctx context.Context, indexer client.FieldIndexer) {
	index := func(obj client.Object, field string, of client.IndexerFunc) {
		lo.Must0(indexer.IndexField(ctx, obj, field, of))
	}
	index(&corev1.Pod{}, "spec.nodeName", func(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} })
	index(&corev1.Node{}, "spec.providerID", func(o client.Object) []string { return []string{o.(*corev1.Node).Spec.ProviderID} })
	index(&storagev1.VolumeAttachment{}, "spec.nodeName", func(o client.Object) []string {
		return []string{o.(*storagev1.VolumeAttachment).Spec.NodeName}
	})
	index(&v1.NodeClaim{}, "status.providerID", func(o client.Object) []string { return []string{o.(*v1.NodeClaim).Status.ProviderID} })
	for field, of := range map[string]func(*v1.NodeClassReference) string{
		"group": func(r *v1.NodeClassReference) string { return r.Group },
		"kind":  func(r *v1.NodeClassReference) string { return r.Kind },
		"name":  func(r *v1.NodeClassReference) string { return r.Name },
	} {
		index(&v1.NodeClaim{}, "spec.nodeClassRef."+field, func(o client.Object) []string {
			return []string{of(o.(*v1.NodeClaim).Spec.NodeClassRef)}
		})
		index(&v1.NodePool{}, "spec.template.spec.nodeClassRef."+field, func(o client.Object) []string {
			return []string{of(o.(*v1.NodePool).Spec.Template.Spec.NodeClassRef)}
		})
	}
}
