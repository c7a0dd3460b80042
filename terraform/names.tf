# The names that the CDK app and the command template give, and what of the settings is computed.
locals {
  fingerprint = substr(sha256(var.cluster), 0, 8)

  plain_name = "karpenter-node-holder-${replace(var.cluster, "_", "-")}"
  stack_name = strcontains(var.cluster, "_") ? "${substr(local.plain_name, 0, 119)}-${local.fingerprint}" : local.plain_name

  # A name cut short ends in a fingerprint of the whole.
  whole    = "karpenter-node-holder-${var.cluster}"
  suffixes = merge({ for part in concat(local.functions, local.installer) : replace(part, "-", "_") => "-${part}" }, { schedules = "", launches = "-launches" })
  names = {
    for key, suffix in local.suffixes : key =>
    length("${local.whole}${suffix}") <= 64 ? "${local.whole}${suffix}" : "${substr(local.whole, 0, 55 - length(suffix))}-${local.fingerprint}${suffix}"
  }

  # Room for pods is known from NodeClaims, which Karpenter before v0.32 does not have.
  auto       = local.given.hold == "auto" && local.given.karpenter == "v1"
  constant   = local.given.hold != "auto" ? local.given.hold : local.seconds.max_hold < 1200 ? local.given.max_hold : "20m"
  annotation = local.given.hold_annotation != "" ? local.given.hold_annotation : local.given.karpenter == "v1" ? "karpenter.sh/do-not-disrupt" : "karpenter.sh/do-not-consolidate"

  # The windows' lengths beside the settings that are durations.
  durations = merge(
    { for name, range in local.ranges : name => merge(range, { text = local.given[name] }) },
    { for length in distinct([for window in local.windows : window.length]) : length => { least = 60, most = 604800, zero = false, word = "", text = length } },
  )
  seconds = {
    for name, range in local.durations : name =>
    sum([for unit, size in { d = 86400, h = 3600, m = 60, s = 1 } : try(tonumber(regex("(\\d+)${unit}", range.text)[0]), 0) * size])
  }
  out_of_range = [
    for name, range in local.durations : name
    if !(range.word != "" && range.text == range.word) && !(
      can(regex("^(?:\\d{1,4}d)?(?:\\d{1,6}h)?(?:\\d{1,6}m)?(?:\\d{1,7}s)?$", range.text)) && range.text != "" &&
      (range.zero && local.seconds[name] == 0 || local.seconds[name] >= range.least && local.seconds[name] <= range.most)
    )
  ]
  held = local.given.hold == "auto" ? min(1200, local.seconds.max_hold) : local.seconds.hold

  windows = [
    for text in split(";", local.given.hold_during) : {
      schedule  = regex(local.window, trimspace(text))[0]
      time_zone = coalesce(regex(local.window, trimspace(text))[1], "UTC")
      length    = regex(local.window, trimspace(text))[2]
      scope     = coalesce(regex(local.window, trimspace(text))[3], "cluster")
    } if can(regex(local.window, trimspace(text)))
  ]

  pools        = compact([for name in split(",", local.given.node_pools) : trimspace(name)])
  included     = [for name in local.pools : name if substr(name, 0, 1) != "!"]
  left_out     = [for name in local.pools : substr(name, 1, -1) if substr(name, 0, 1) == "!"]
  window_pools = [for window in local.windows : substr(window.scope, 9, -1) if window.scope != "cluster"]

  wrong_pools = concat(
    [for name in local.included : "node_pools names ${name} and leaves it out" if contains(local.left_out, name)],
    [
      for name in local.window_pools : "hold_during: node_pools leaves out ${name}"
      if contains(local.left_out, name) || length(local.included) > 0 && !contains(local.included, name)
    ],
  )

  problems = concat(local.misspelled, local.wrong_pools, compact([
    local.given.alarms == "notify" && local.given.alarm_topic_arn == "" && local.given.monitoring != "none" ? "alarms notify no one: set alarm_topic_arn, or alarms = \"none\"" : "",
    local.given.alarm_topic_arn != "" && local.given.monitoring == "none" ? "alarm_topic_arn has no effect with monitoring = \"none\"" : "",
    local.seconds.max_hold == 0 ? "max_hold = \"0s\" needs the CDK" : "",
    local.seconds.max_hold > 0 && local.seconds.max_hold < local.held ? "max_hold must be at least hold" : "",
    local.seconds.initial_delay > 0 && local.seconds.initial_delay >= local.held ? "initial_delay must be shorter than hold" : "",
    !local.auto && (var.relaunch_cost != null || var.eviction_cost != null) ? "relaunch_cost and eviction_cost have an effect with hold = \"auto\" only" : "",
    alltrue([for window in local.windows : !contains(local.out_of_range, window.length)]) ? "" : "hold_during: a window lasts 1m to 168h, like 30m",
    alltrue([for window in local.windows : (window.scope == "cluster") == (local.given.scope == "cluster")]) ? "" : "hold_during: with scope = \"nodepool\" a window names what it holds, nodepool/NAME, else it names nothing",
    length(distinct([for window in local.windows : "${window.schedule} ${window.time_zone} ${window.scope}"])) == length(local.windows) ? "" : "hold_during: two windows have the same schedule, time zone and scope",
    try(length(var.vpc.subnet_ids) > 0 && length(var.vpc.security_group_ids) > 0, var.vpc == null) ? "" : "vpc needs a subnet and a security group at least",
  ]))
}
