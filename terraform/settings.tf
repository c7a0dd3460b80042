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
  description = "with hold=auto: what launching a node again costs, in time of that node (1m to 24h) (default: 2m)"
  type        = string
  default     = null
}

variable "eviction_cost" {
  description = "with hold=auto: what evicting a pod costs, in time of its node (to 24h) (default: 3m)"
  type        = string
  default     = null
}

variable "max_hold" {
  description = "with hold=auto: how long after the last launch all nodes are released, those with Jobs when done; else: how long launches hold without a break (1m to 168h) (default: 2h)"
  type        = string
  default     = null
}

variable "breather" {
  description = "with a constant hold: after max_hold, launches hold nothing for this long, so that Karpenter can consolidate (1m to 24h) (default: 10m)"
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
  description = "how long launches still hold a node after it drifted; 0s: until the next pass, with a constant hold within sweep_every (to 168h) (default: 0s)"
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

variable "node_events" {
  description = "true: an Event on each node that is held, let go or released, for kubectl describe node (default: false)"
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

variable "monitoring" {
  description = "full; alarms: no dashboard, and the metrics of alarms alone; none: logs alone (default: full)"
  type        = string
  default     = null
}

variable "permissions_boundary_arn" {
  description = "permissions boundary of every role (default: none)"
  type        = string
  default     = null
}

variable "role_path" {
  description = "path of every role (default: none)"
  type        = string
  default     = null
}

variable "kms_key_arn" {
  description = "KMS key of table, queues and logs (default: AWS's own)"
  type        = string
  default     = null
}

locals {
  # As text, with the defaults.
  given = {
    cluster                  = var.cluster == null ? "" : var.cluster
    mode                     = var.mode == null ? "hold" : var.mode
    hold                     = var.hold == null ? "auto" : var.hold
    relaunch_cost            = var.relaunch_cost == null ? "2m" : var.relaunch_cost
    eviction_cost            = var.eviction_cost == null ? "3m" : var.eviction_cost
    max_hold                 = var.max_hold == null ? "2h" : var.max_hold
    breather                 = var.breather == null ? "10m" : var.breather
    max_request              = var.max_request == null ? "24h" : var.max_request
    initial_delay            = var.initial_delay == null ? "0s" : var.initial_delay
    scope                    = var.scope == null ? "cluster" : var.scope
    node_pools               = var.node_pools == null ? "" : join(",", var.node_pools)
    drift_wait               = var.drift_wait == null ? "0s" : var.drift_wait
    karpenter                = var.karpenter == null ? "v1" : var.karpenter
    hold_annotation          = var.hold_annotation == null ? "" : var.hold_annotation
    node_events              = var.node_events == null ? "false" : var.node_events
    hold_during              = var.hold_during == null ? "" : join(";", var.hold_during)
    events                   = var.events == null ? "false" : var.events
    access                   = var.access == null ? "install" : var.access
    alarm_topic_arn          = var.alarm_topic_arn == null ? "" : var.alarm_topic_arn
    alarms                   = var.alarms == null ? "notify" : var.alarms
    monitoring               = var.monitoring == null ? "full" : var.monitoring
    permissions_boundary_arn = var.permissions_boundary_arn == null ? "" : var.permissions_boundary_arn
    role_path                = var.role_path == null ? "" : var.role_path
    kms_key_arn              = var.kms_key_arn == null ? "" : var.kms_key_arn
  }

  # Which durations are allowed, in seconds.
  ranges = {
    hold          = { least = 60, most = 86400, zero = false, word = "auto" }
    relaunch_cost = { least = 60, most = 86400, zero = false, word = "" }
    eviction_cost = { least = 0, most = 86400, zero = false, word = "" }
    max_hold      = { least = 60, most = 604800, zero = true, word = "" }
    breather      = { least = 60, most = 86400, zero = false, word = "" }
    max_request   = { least = 60, most = 7776000, zero = false, word = "" }
    initial_delay = { least = 0, most = 900, zero = false, word = "" }
    drift_wait    = { least = 0, most = 604800, zero = false, word = "" }
  }

  misspelled = compact([
    can(regex("^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$", local.given.cluster)) ? "" : "cluster must be an EKS cluster's name (letters, digits, - and _, at most 100), like prod",
    contains(["hold", "observe"], local.given.mode) ? "" : "mode must be hold or observe",
    contains(local.out_of_range, "hold") ? "hold must be auto, or a duration from 1m to 24h, like 90s, 20m, 2h or 1d" : "",
    contains(local.out_of_range, "relaunch_cost") ? "relaunch_cost must be a duration from 1m to 24h, like 90s, 20m, 2h or 1d" : "",
    contains(local.out_of_range, "eviction_cost") ? "eviction_cost must be a duration from 0s to 24h, like 90s, 20m, 2h or 1d" : "",
    contains(local.out_of_range, "max_hold") ? "max_hold must be a duration from 1m to 168h, like 90s, 20m, 2h or 1d" : "",
    contains(local.out_of_range, "breather") ? "breather must be a duration from 1m to 24h, like 90s, 20m, 2h or 1d" : "",
    contains(local.out_of_range, "max_request") ? "max_request must be a duration from 1m to 2160h, like 90s, 20m, 2h or 1d" : "",
    contains(local.out_of_range, "initial_delay") ? "initial_delay must be a duration from 0s to 15m, like 90s, 20m, 2h or 1d" : "",
    contains(["cluster", "nodepool"], local.given.scope) ? "" : "scope must be cluster or nodepool",
    alltrue([for one in split(",", local.given.node_pools) : one == "" || can(regex("^!?[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$", trimspace(one)))]) ? "" : "node_pools must be NodePool names, with ! before those to leave out, like batch,!system",
    contains(local.out_of_range, "drift_wait") ? "drift_wait must be a duration from 0s to 168h, like 90s, 20m, 2h or 1d" : "",
    contains(["v1", "v0.31"], local.given.karpenter) ? "" : "karpenter must be v1 or v0.31",
    local.given.hold_annotation == "" || can(regex("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$", local.given.hold_annotation)) ? "" : "hold_annotation must be an annotation key with a prefix, like example.com/keep",
    contains(["false", "true"], local.given.node_events) ? "" : "node_events must be false or true",
    alltrue([for one in split(";", local.given.hold_during) : one == "" || can(regex("^((?:cron|rate|at)\\([^();]*\\))(?: +([A-Za-z][\\w+/-]*))? +(\\d\\w*)(?: +(cluster|nodepool/[\\w.-]+))?$", trimspace(one)))]) ? "" : "hold_during must be windows, each a schedule, a time zone, a length and a scope, like cron(0 8 ? * MON-FRI *) Europe/Berlin 2h",
    contains(["false", "true"], local.given.events) ? "" : "events must be false or true",
    contains(["install", "manual"], local.given.access) ? "" : "access must be install or manual",
    local.given.alarm_topic_arn == "" || can(regex("^arn:[\\w-]+:sns:[\\w-]+:\\d{12}:[\\w.-]+$", local.given.alarm_topic_arn)) ? "" : "alarm_topic_arn must be the ARN of an SNS topic, like arn:aws:sns:us-east-1:111122223333:ops",
    contains(["notify", "none"], local.given.alarms) ? "" : "alarms must be notify or none",
    contains(["full", "alarms", "none"], local.given.monitoring) ? "" : "monitoring must be full or alarms or none",
    local.given.permissions_boundary_arn == "" || can(regex("^arn:[\\w-]+:iam::(\\d{12}|aws):policy/[\\w+=,.@/-]+$", local.given.permissions_boundary_arn)) ? "" : "permissions_boundary_arn must be the ARN of an IAM policy, like arn:aws:iam::111122223333:policy/boundary",
    local.given.role_path == "" || can(regex("^/([\\w+=,.@-]+/)+$", local.given.role_path)) ? "" : "role_path must be a path that begins and ends in a slash, like /platform/",
    local.given.kms_key_arn == "" || can(regex("^arn:[\\w-]+:kms:[\\w-]+:\\d{12}:key/[\\w-]+$", local.given.kms_key_arn)) ? "" : "kms_key_arn must be the ARN of a KMS key, like arn:aws:kms:us-east-1:111122223333:key/0123abcd-0123-0123-0123-0123456789ab",
  ])

  window = "^((?:cron|rate|at)\\([^();]*\\))(?: +([A-Za-z][\\w+/-]*))? +(\\d\\w*)(?: +(cluster|nodepool/[\\w.-]+))?$"

  # The functions' environment.
  variables = {
    CLUSTER         = local.given.cluster
    MODE            = local.given.mode
    HOLD            = local.auto ? "auto" : local.constant
    RELAUNCH_COST   = local.auto ? local.given.relaunch_cost : ""
    EVICTION_COST   = local.auto ? local.given.eviction_cost : ""
    MAX_HOLD        = local.given.max_hold
    BREATHER        = local.given.breather
    MAX_REQUEST     = local.given.max_request
    INITIAL_DELAY   = local.given.initial_delay
    SCOPE           = local.given.scope
    NODE_POOLS      = local.given.node_pools
    DRIFT_WAIT      = local.given.drift_wait
    KARPENTER       = local.given.karpenter
    HOLD_ANNOTATION = local.annotation
    SWEEP_EVERY     = "5m"
    NODE_EVENTS     = local.given.node_events
  }
}
