package main

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

const (
	launching   = "DisruptionLaunching"
	terminating = "DisruptionTerminating"
	// An API server keeps events for an hour.
	eventsLast = time.Hour
)

// eventRecorder stores Karpenter's events about disruption, and reads from them why a node goes.
type eventRecorder struct{ w *world }

func (r eventRecorder) Event(about runtime.Object, kind, reason, message string) {
	if reason != launching && reason != terminating {
		return
	}
	o := about.(client.Object)
	gvk, err := apiutil.GVKForObject(o, r.w.store.Scheme())
	if err != nil {
		panic(err)
	}
	if reason == terminating && gvk.Kind == "NodeClaim" {
		r.w.disrupts(o.GetName(), message)
	}
	now := metav1.Now()
	e := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: o.GetName() + "."},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind, Name: o.GetName(), UID: o.GetUID(),
		},
		Type: kind, Reason: reason, Message: message, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source:              corev1.EventSource{Component: "karpenter"},
		ReportingController: "karpenter",
	}
	if err := r.w.store.Create(r.w.ctx, e); err != nil {
		panic(err)
	}
	time.AfterFunc(eventsLast, func() { _ = r.w.store.Delete(r.w.ctx, e) })
}

func (r eventRecorder) Eventf(about runtime.Object, kind, reason, format string, args ...any) {
	r.Event(about, kind, reason, fmt.Sprintf(format, args...))
}

func (r eventRecorder) AnnotatedEventf(about runtime.Object, _ map[string]string, kind, reason, format string, args ...any) {
	r.Eventf(about, kind, reason, format, args...)
}

// disrupts notes the reason in a message like "Disrupting NodeClaim: Underutilized".
func (w *world) disrupts(claim, message string) {
	_, reason, _ := strings.Cut(message, ": ")
	reason, _, _ = strings.Cut(strings.ToLower(reason), "/")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tally.count(w.tally.commands, reason)
	for _, i := range w.instances {
		if i.claim == claim && i.reason == "" {
			i.reason = reason
		}
	}
}
