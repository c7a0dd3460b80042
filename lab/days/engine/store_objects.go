package main

import (
	"fmt"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// graceOf is how long a kubelet may take; a pod that has no node is gone at once.
func graceOf(obj client.Object) time.Duration {
	p, ok := obj.(*corev1.Pod)
	if !ok || p.Spec.NodeName == "" || p.Spec.TerminationGracePeriodSeconds == nil {
		return 0
	}
	return seconds(float64(*p.Spec.TerminationGracePeriodSeconds))
}

// assign copies a stored object. Nobody changes the parts of a pod here, so its copies share them.
func assign(to, from client.Object) {
	if pod, ok := from.(*corev1.Pod); ok {
		*to.(*corev1.Pod) = *pod
		return
	}
	reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}

func specOf(o client.Object) reflect.Value { return reflect.ValueOf(o).Elem().FieldByName("Spec") }

func notFound(obj client.Object, name string) error {
	return errors.NewNotFound(resourceOf(obj), name)
}

func conflict(obj client.Object) error {
	return errors.NewConflict(resourceOf(obj), obj.GetName(), fmt.Errorf("the object has been modified"))
}
