package main

import (
	"context"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
)

// informers are controller-runtime's fakes, which the store feeds.
type informers struct {
	mu   *sync.Mutex
	fake *informertest.FakeInformers
}

func newInformers() informers {
	return informers{&sync.Mutex{}, &informertest.FakeInformers{Scheme: scheme.Scheme}}
}

func (i informers) notify(c objectChange) {
	obj := c.new
	if obj == nil {
		obj = c.old
	}
	i.mu.Lock()
	found, err := i.fake.GetInformer(context.Background(), obj)
	i.mu.Unlock()
	if err != nil {
		panic(err)
	}
	informer := found.(*controllertest.FakeInformer)
	switch {
	case c.old == nil:
		informer.Add(c.new)
	case c.new == nil:
		informer.Delete(c.old)
	default:
		informer.Update(c.old, c.new)
	}
}

// storeCache is the cache of the manager: its reads are the client's.
type storeCache struct{ *store }

func (c storeCache) GetInformer(ctx context.Context, obj client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	c.informers.mu.Lock()
	defer c.informers.mu.Unlock()
	return c.informers.fake.GetInformer(ctx, obj, opts...)
}

func (c storeCache) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...cache.InformerGetOption) (cache.Informer, error) {
	c.informers.mu.Lock()
	defer c.informers.mu.Unlock()
	return c.informers.fake.GetInformerForKind(ctx, gvk, opts...)
}

func (c storeCache) RemoveInformer(context.Context, client.Object) error { return nil }
func (c storeCache) Start(ctx context.Context) error                     { <-ctx.Done(); return nil }
func (c storeCache) WaitForCacheSync(context.Context) bool               { return true }

func (c storeCache) IndexField(_ context.Context, obj client.Object, field string, of client.IndexerFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	tb := c.table(reflect.TypeOf(obj))
	tb.fields[field] = of
	tb.index[field] = map[string]map[types.NamespacedName]client.Object{}
	for key, o := range tb.objects {
		tb.reindex(key, nil, o)
	}
	return nil
}
