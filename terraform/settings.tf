# Written from the table of settings by: npx vitest run test/repository/terraform.test.ts -u

variable "cluster" {
  description = "name of the cluster"
  type        = string
  nullable    = false
}

variable "mode" {
  description = "hold, or observe: everything is decided and recorded, and no node is changed (default: hold)"
  type        = string
  default     = null
}

variable "hold" {
  description = "auto: a node goes when that pays; or how long each launch protects the nodes of its scope (1m to 24h) (default: auto)"
  type        = string
  default     = null
}

variable "relaunch_cost" {
  description = "with hold=auto: what the relaunch of a node is worth, in time of that node (1m to 24h) (default: 5m)"
  type        = string
  default     = null
}

variable "eviction_cost" {
  description = "with hold=auto: what the eviction of a pod is worth, in time of its node (to 24h) (default: 3m)"
  type        = string
  default     = null
}

variable "max_hold" {
  description = "with hold=auto, when after the last launch all nodes are released; else launches never hold for longer without a break, 0s for no cap (1m to 168h) (default: 2h)"
  type        = string
  default     = null
}

variable "breather" {
  description = "with a constant hold: after maxHold, launches hold nothing for this long, so that Karpenter can consolidate (1m to 24h) (default: 10m)"
  type        = string
  default     = null
}

variable "max_request" {
  description = "the longest hold that a person or an event may ask for; a longer one is refused (1m to 2160h) (default: 24h)"
  type        = string
  default     = null
}

variable "initial_delay" {
  description = "wait before acting on a launch (to 15m) (default: 0s)"
  type        = string
  default     = null
}

variable "scope" {
  description = "cluster: one hold for all; nodepool: a launch protects its own NodePool only (default: cluster)"
  type        = string
  default     = null
}

variable "node_pools" {
  description = "names to include, or !name to leave out (default: all)"
  type        = list(string)
  default     = null
}

variable "drift_wait" {
  description = "how long after it drifted launches hold a node at most; 0s: not at all, so that a roll goes on (to 168h) (default: 0s)"
  type        = string
  default     = null
}

variable "karpenter" {
  description = "v1 (v0.32 and later) or v0.31, whose annotation delays consolidation only (default: v1)"
  type        = string
  default     = null
}

variable "hold_annotation" {
  description = "another annotation key (default: by karpenter)"
  type        = string
  default     = null
}

variable "hold_during" {
  description = "windows in which nodes are held, like cron(0 8 ? * MON-FRI *) Europe/Berlin 2h (default: none)"
  type        = list(string)
  default     = null
}

variable "events" {
  description = "true: send an event to the default event bus when a hold starts, is extended, reaches its cap or ends (default: false)"
  type        = string
  default     = null
}

variable "access" {
  description = "install or manual: who installs the rights in the cluster (default: install)"
  type        = string
  default     = null
}

variable "alarm_topic_arn" {
  description = "SNS topic that receives every alarm (default: none)"
  type        = string
  default     = null
}

variable "alarms" {
  description = "notify: every alarm needs an action, like a topic; none: alarms notify no one (default: notify)"
  type        = string
  default     = null
}

locals {
  settings = {
    "--cluster"         = var.cluster
    "--mode"            = var.mode
    "--hold"            = var.hold
    "--relaunch-cost"   = var.relaunch_cost
    "--eviction-cost"   = var.eviction_cost
    "--max-hold"        = var.max_hold
    "--breather"        = var.breather
    "--max-request"     = var.max_request
    "--initial-delay"   = var.initial_delay
    "--scope"           = var.scope
    "--node-pools"      = var.node_pools == null ? null : join(",", var.node_pools)
    "--drift-wait"      = var.drift_wait
    "--karpenter"       = var.karpenter
    "--hold-annotation" = var.hold_annotation
    "--hold-during"     = var.hold_during == null ? null : join(";", var.hold_during)
    "--events"          = var.events
    "--access"          = var.access
    "--alarm-topic-arn" = var.alarm_topic_arn
    "--alarms"          = var.alarms
  }
}
