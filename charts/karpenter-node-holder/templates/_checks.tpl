{{- /* Written by npm run build:chart: refuses most of what `run` would refuse. */}}
{{- define "karpenter-node-holder.seconds" }}
{{- $sum := 0 }}
{{- $units := dict "d" 86400 "h" 3600 "m" 60 "s" 1 }}
{{- range regexFindAll "[0-9]+[dhms]" . -1 }}
{{- $sum = add $sum (mul (regexFind "[1-9][0-9]*" . | int64) (get $units (regexFind "[dhms]" .))) }}
{{- end }}
{{- $sum }}
{{- end }}
{{- define "karpenter-node-holder.range" }}
{{- $given := get .set .name | default "" }}
{{- if and $given (ne $given .or) }}
{{- $length := include "karpenter-node-holder.seconds" $given | int64 }}
{{- $isZero := and .zero (eq $length 0) }}
{{- $isIn := and (ge $length (first .limits | int64)) (le $length (last .limits | int64)) (eq (mod $length .step) 0) }}
{{- if not (or $isZero $isIn) }}
{{- fail (printf "settings.%s, not %q" .problem $given) }}
{{- end }}
{{- end }}
{{- end }}
{{- define "karpenter-node-holder.checks" }}
{{- $set := .Values.settings }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "hold" "limits" (list 60 86400) "or" "auto" "zero" false "step" 1 "problem" "hold must be auto, or a duration from 1m to 24h, like 90s, 20m, 2h or 1d") }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "relaunchCost" "limits" (list 60 86400) "or" "" "zero" false "step" 1 "problem" "relaunchCost must be a duration from 1m to 24h, like 90s, 20m, 2h or 1d") }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "evictionCost" "limits" (list 0 86400) "or" "" "zero" false "step" 1 "problem" "evictionCost must be a duration from 0s to 24h, like 90s, 20m, 2h or 1d") }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "maxHold" "limits" (list 60 604800) "or" "" "zero" true "step" 1 "problem" "maxHold must be a duration from 1m to 168h, or 0s for no cap, like 90s, 20m, 2h or 1d") }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "breather" "limits" (list 60 86400) "or" "" "zero" false "step" 1 "problem" "breather must be a duration from 1m to 24h, like 90s, 20m, 2h or 1d") }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "maxRequest" "limits" (list 60 7776000) "or" "" "zero" false "step" 1 "problem" "maxRequest must be a duration from 1m to 2160h, like 90s, 20m, 2h or 1d") }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "initialDelay" "limits" (list 0 900) "or" "" "zero" false "step" 1 "problem" "initialDelay must be a duration from 0s to 15m, like 90s, 20m, 2h or 1d") }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "driftWait" "limits" (list 0 604800) "or" "" "zero" false "step" 1 "problem" "driftWait must be a duration from 0s to 168h, like 90s, 20m, 2h or 1d") }}
{{- include "karpenter-node-holder.range" (dict "set" $set "name" "sweepEvery" "limits" (list 60 3600) "or" "" "zero" false "step" 60 "problem" "sweepEvery must be a duration from 1m to 1h in whole minutes, like 20m or 1h") }}
{{- if and .Values.storage.enabled (gt (int .Values.replicas) 1) }}
{{- fail "replicas must be 1 with storage.enabled: one Pod at a time can open the volume" }}
{{- end }}
{{- $hold := $set.hold | default "auto" }}
{{- $auto := and (eq $hold "auto") (eq ($set.karpenter | default "v1") "v1") }}
{{- $maxHold := include "karpenter-node-holder.seconds" ($set.maxHold | default "2h") | int64 }}
{{- $delay := include "karpenter-node-holder.seconds" ($set.initialDelay | default "0s") | int64 }}
{{- $length := eq $hold "auto" | ternary (min 1200 ($maxHold | default 1200)) (include "karpenter-node-holder.seconds" $hold) | int64 }}
{{- if and $auto (eq $maxHold 0) }}
{{- fail "settings.maxHold must be a time with hold=auto" }}
{{- end }}
{{- if not $auto }}
{{- range pick $set "relaunchCost" "evictionCost" | keys | sortAlpha }}
{{- if get $set . }}
{{- fail (printf "settings.%s has an effect with hold=auto only" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and (gt $maxHold 0) (lt $maxHold $length) }}
{{- fail (printf "settings.maxHold must be at least hold (%s), or 0s" $hold) }}
{{- end }}
{{- if ge $delay $length }}
{{- fail (printf "settings.initialDelay must be shorter than hold (%ds)" $length) }}
{{- end }}
{{- range $set.nodePools }}
{{- if has (printf "!%s" .) $set.nodePools }}
{{- fail (printf "settings.nodePools names %s and leaves it out" .) }}
{{- end }}
{{- end }}
{{- $isPool := eq ($set.scope | default "cluster") "nodepool" }}
{{- $numbers := dict "SUN" 1 "MON" 2 "TUE" 3 "WED" 4 "THU" 5 "FRI" 6 "SAT" 7 "JAN" 1 "FEB" 2 "MAR" 3 "APR" 4 "MAY" 5 "JUN" 6 "JUL" 7 "AUG" 8 "SEP" 9 "OCT" 10 "NOV" 11 "DEC" 12 }}
{{- $begun := list }}
{{- range $set.holdDuring }}
{{- $named := regexFind " nodepool/[^ ]+$" . | trimPrefix " nodepool/" }}
{{- if ne (not $named) (not $isPool) }}
{{- fail (printf "settings.holdDuring: the scope of %q does not fit the holder's scope" .) }}
{{- end }}
{{- if $named }}
{{- $others := list }}
{{- range $set.nodePools }}{{ if not (hasPrefix "!" .) }}{{ $others = append $others . }}{{ end }}{{ end }}
{{- if or (has (printf "!%s" $named) ($set.nodePools | default list)) (and $others (not (has $named $others))) }}
{{- fail (printf "settings.holdDuring: nodePools leaves out the NodePool of %q" .) }}
{{- end }}
{{- end }}
{{- $schedule := regexFind "^[a-z]+\\([^()]*\\)" . }}
{{- $zone := trimPrefix $schedule . | trim | regexFind "^[A-Za-z][^ ]*" | default "UTC" }}
{{- $when := printf "%s %s %s" $schedule $zone $named }}
{{- if has $when $begun }}
{{- fail (printf "settings.holdDuring: %q has the same schedule, time zone and scope as another window" .) }}
{{- end }}
{{- $begun = append $begun $when }}
{{- $cron := regexFind "^cron\\([^()]*\\)" . }}
{{- if and $cron (not (regexMatch "^cron\\( *([^? ]+ +){2}(\\? +[^? ]+ +[^? ]+|[^? ]+ +[^? ]+ +\\?) +[^? ]+ *\\)$" $cron)) }}
{{- fail (printf "settings.holdDuring: cron(…) must have six fields and ? for one of day of month and day of week, not %q" .) }}
{{- end }}
{{- range regexFindAll "[0-9A-Z]+-[0-9A-Z]+" (upper $cron) -1 }}
{{- $ends := list }}
{{- range splitList "-" . }}{{ $ends = append $ends (get $numbers . | default (atoi .)) }}{{ end }}
{{- if gt (first $ends) (last $ends) }}
{{- fail (printf "settings.holdDuring: the range %s goes backwards in %q" . $cron) }}
{{- end }}
{{- end }}
{{- $length := include "karpenter-node-holder.seconds" (regexFind " [0-9][0-9dhms]*( |$)" (regexReplaceAll "^[a-z]+\\([^()]*\\)" . "") | trim) | int64 }}
{{- if or (lt $length 60) (gt $length 604800) }}
{{- fail (printf "settings.holdDuring: for must be a duration from 1m to 168h in %q" .) }}
{{- end }}
{{- end }}
{{- end }}
