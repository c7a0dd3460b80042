package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// job is a Job of one pod. It starts over when its pod is evicted.
type job struct {
	jobTrace
	attempts int
	isDone   bool
}

// finishedFor is how long a finished pod stays, as a Job's time to live may say.
const finishedFor = 30 * time.Second

func (w *world) startJob(t jobTrace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := &job{jobTrace: t}
	w.jobs[t.Name] = j
	w.createJobPod(j)
}

// createJobPod is called with the lock held.
func (w *world) createJobPod(j *job) {
	j.attempts++
	image := j.Image
	if image == "" {
		image = strings.TrimRight(j.Name, "-0123456789")
	}
	p := w.podObject(podSpec{
		name:   fmt.Sprintf("%s-%d", j.Name, j.attempts),
		image:  image,
		labels: map[string]string{jobLabel: j.Name},
		cpu:    j.CPU.Quantity, memory: j.Memory.Quantity,
		pool:         j.Pool,
		doNotDisrupt: j.DoNotDisrupt,
		owner:        metav1.OwnerReference{APIVersion: "batch/v1", Kind: "Job", Name: j.Name, UID: uidOf(w.config.Seed, "job "+j.Name)},
	})
	go func() {
		if err := w.store.Create(w.ctx, p); err != nil {
			panic(err)
		}
	}()
}

// longestPause is what the Job controller waits at most before it creates a pod once more.
const longestPause = 10 * time.Minute

// pause is what the Job controller waits: it doubles with each attempt.
func (j *job) pause(first float64) time.Duration {
	// In seconds: a length of time cannot count the pause after some thirty attempts.
	return seconds(min(first*math.Pow(2, float64(j.attempts-1)), longestPause.Seconds()))
}

// startAgain creates a pod once more after a pause.
func (w *world) startAgain(j *job) {
	time.AfterFunc(j.pause(w.config.JobRetry), func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.createJobPod(j)
	})
}

// jobRuns lets the pod of a Job end in time.
func (w *world) jobRuns(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pods[name]
	if p == nil || p.job == nil {
		return
	}
	time.AfterFunc(seconds(p.job.Runs), func() { w.endJob(p) })
}

func (w *world) endJob(p *pod) {
	w.mu.Lock()
	isOver := p.isTerminating || w.pods[p.name] != p
	if !isOver {
		p.job.isDone = true
		w.tally.jobRan()
		delete(w.jobs, p.job.Name)
	}
	w.mu.Unlock()
	if isOver {
		return
	}
	w.retry(func() error {
		o := &corev1.Pod{}
		if err := w.store.Get(w.ctx, client.ObjectKey{Namespace: namespace, Name: p.name}, o); err != nil {
			return err
		}
		o.Status.Phase = corev1.PodSucceeded
		o.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "PodCompleted", LastTransitionTime: metav1.Now()}}
		return w.store.Update(w.ctx, o)
	})
	time.AfterFunc(finishedFor, func() { w.deletePod(p.name, 0) })
}
