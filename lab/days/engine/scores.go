package main

import "math"

// The least that a pod counts for where room is scored: millicores and bytes.
const (
	leastCPU    = 100
	leastMemory = 200 * 1024 * 1024
)

// counted is what a pod counts for; one that requests nothing counts, too.
func counted(needs resources) resources {
	if needs.cpu == 0 {
		needs.cpu = leastCPU
	}
	if needs.memory == 0 {
		needs.memory = leastMemory
	}
	return needs
}

const most = 100

// scoresOf are the scores of nodes for a pod: least allocated and balanced allocation once, the spread of its ReplicaSet
// over hosts twice. The other plugins score nodes here alike.
func scoresOf(p *pod, nodes []*candidate) []int64 {
	scores := make([]int64, len(nodes))
	spread := spreadScores(p, nodes)
	for i, c := range nodes {
		scores[i] = leastAllocated(p, c) + balanced(p, c) + 2*spread[i]
	}
	return scores
}

func leastAllocated(p *pod, c *candidate) int64 {
	used := c.counted.plus(p.counts)
	return (free(used.cpu, c.room.cpu) + free(used.memory, c.room.memory)) / 2
}

func free(used, room int64) int64 {
	if room == 0 || used > room {
		return 0
	}
	return (room - used) * most / room
}

// balanced compares the balance of cores and memory with and without the pod.
func balanced(p *pod, c *candidate) int64 {
	with, without := balance(c.used.plus(p.needs), c.room), balance(c.used, c.room)
	return most/2 + (most/2+with-without)/2
}

func balance(used, room resources) int64 {
	cpu := min(1, float64(used.cpu)/float64(room.cpu))
	memory := min(1, float64(used.memory)/float64(room.memory))
	return int64((1 - math.Abs(cpu-memory)/2) * most)
}

// spreadScores are those of the default spread: hosts with a skew of 5, zones with one of 3. There is one zone.
func spreadScores(p *pod, nodes []*candidate) []int64 {
	scores := make([]int64, len(nodes))
	if p.set == nil {
		return scores
	}
	weight := func(values int) float64 { return math.Log(float64(values + 2)) }
	inZone := 0
	for _, c := range nodes {
		inZone += c.ofSet[p.set]
	}
	low, high := int64(math.MaxInt64), int64(0)
	for i, c := range nodes {
		host := float64(c.ofSet[p.set])*weight(len(nodes)) + 4
		scores[i] = int64(math.Round(host + float64(inZone)*weight(1) + 2))
		low, high = min(low, scores[i]), max(high, scores[i])
	}
	for i := range scores {
		scores[i] = most * (high + low - scores[i]) / high
	}
	return scores
}
