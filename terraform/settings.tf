# Written from the table of settings by: npx vitest run test/repository/terraform.test.ts -u

variable "cluster" {
  description = "name of the cluster"
  type        = string
  nullable    = false
}

variable "hold" {
  description = "protection after each launch, and after each use as large as a burst, or auto: learned (1m to 24h) (default: 20m)"
  type        = string
  default     = null
}

variable "relaunch_cost" {
  description = "with hold=auto: what one needless relaunch of a node is worth, in time of that node (1m to 24h) (default: 10m)"
  type        = string
  default     = null
}

variable "max_hold" {
  description = "a hold never lasts longer, however many nodes are launched; 0s for no cap (1m to 168h) (default: 2h)"
  type        = string
  default     = null
}

variable "breather" {
  description = "after a capped hold, launches start no hold for this long, so that Karpenter can consolidate (to 24h) (default: 10m)"
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

variable "replacements" {
  description = "whether launches that only replace other nodes (drift, consolidation) hold, too (default: ignore)"
  type        = string
  default     = null
}

variable "extend_on" {
  description = "use: use as large as a burst extends a hold, too; or launches alone (default: use)"
  type        = string
  default     = null
}

variable "let_go" {
  description = "empty: a node that was quiet for hold and has no pods but DaemonSets' is let go by itself; or nothing (default: nothing)"
  type        = string
  default     = null
}

variable "drift_wait" {
  description = "a drifted node is held for at most this long; 0s: not at all; maxHold or more: to the end of the hold (to 168h) (default: 20m)"
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

locals {
  settings = {
    "--cluster"         = var.cluster
    "--hold"            = var.hold
    "--relaunch-cost"   = var.relaunch_cost
    "--max-hold"        = var.max_hold
    "--breather"        = var.breather
    "--initial-delay"   = var.initial_delay
    "--scope"           = var.scope
    "--node-pools"      = var.node_pools == null ? null : join(",", var.node_pools)
    "--replacements"    = var.replacements
    "--extend-on"       = var.extend_on
    "--let-go"          = var.let_go
    "--drift-wait"      = var.drift_wait
    "--karpenter"       = var.karpenter
    "--hold-annotation" = var.hold_annotation
    "--hold-during"     = var.hold_during == null ? null : join(";", var.hold_during)
    "--events"          = var.events
    "--access"          = var.access
    "--alarm-topic-arn" = var.alarm_topic_arn
  }
}
