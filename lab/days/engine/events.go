package main

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// eventRecorder reads from Karpenter's events about disruption why a node goes.
type eventRecorder struct{ w *world }

func (r eventRecorder) Event(about runtime.Object, _, reason, message string) {
	if claim, ok := about.(*v1.NodeClaim); ok && reason == "DisruptionTerminating" {
		r.w.disrupts(claim.Name, message)
	}
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
