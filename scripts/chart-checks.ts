import { runSettings } from "../infra/settings/deployment.ts";
import { seconds } from "../lambda/core/duration.ts";
import { holderName } from "../lambda/core/marks/keys.ts";
import { readValues } from "../lambda/settings.ts";
import type { Setting } from "../lambda/settings-table.ts";

/**
 * What `run` refuses, in the words of Helm: a schema knows no ranges of durations. Of windows, `run` alone checks time zones,
 * dates and what else a field may have. A test compares both.
 */
export function checksTemplate(): string {
  const ranges = Object.entries<Setting>(runSettings).flatMap(([name, { value }]) => {
    if (value.kind !== "duration") return [];
    const [problem = ""] = readValues(
      { [name]: runSettings[name as keyof typeof runSettings] },
      { [name]: "x" },
    ).problems;
    const { least, most, or = "", zero, whole } = value;
    const step = whole ? 60 : 1;
    const limits = [least, most].map((limit) => limit / seconds(1));
    return [
      `{{- include "${holderName}.range" (dict "set" $set "name" "${name}" "limits" (list ${limits.join(" ")}) ` +
        `"or" "${or}" "zero" ${zero !== undefined} "step" ${step} "problem" ${JSON.stringify(problem.replace(/, not "x"$/, ""))}) }}`,
    ];
  });
  return `${helpers}
{{- define "${holderName}.checks" }}
{{- $set := .Values.settings }}
${ranges.join("\n")}
${cross}
{{- end }}
`;
}

const defaultOf = (name: "hold" | "maxHold" | "initialDelay" | "scope" | "karpenter"): string => {
  const { default: usual, runDefault = usual }: Setting = runSettings[name];
  return runDefault ?? "";
};

const field = "[^? ]+";
/** With ? for one of day of month and day of week. */
const sixFields = `^cron\\( *(${field} +){2}(\\? +${field} +${field}|${field} +${field} +\\?) +${field} *\\)$`;

/** The names in a cron expression, each with its number. */
const numbered = (names: string): string =>
  names
    .split(" ")
    .map((name, before) => `"${name}" ${before + 1}`)
    .join(" ");

const helpers = `{{- /* Written by npm run build:chart: refuses most of what \`run\` would refuse. */}}
{{- define "${holderName}.seconds" }}
{{- $sum := 0 }}
{{- $units := dict "d" 86400 "h" 3600 "m" 60 "s" 1 }}
{{- range regexFindAll "[0-9]+[dhms]" . -1 }}
{{- $sum = add $sum (mul (regexFind "[1-9][0-9]*" . | int64) (get $units (regexFind "[dhms]" .))) }}
{{- end }}
{{- $sum }}
{{- end }}
{{- define "${holderName}.range" }}
{{- $given := get .set .name | default "" }}
{{- if and $given (ne $given .or) }}
{{- $length := include "${holderName}.seconds" $given | int64 }}
{{- $isZero := and .zero (eq $length 0) }}
{{- $isIn := and (ge $length (first .limits | int64)) (le $length (last .limits | int64)) (eq (mod $length .step) 0) }}
{{- if not (or $isZero $isIn) }}
{{- fail (printf "settings.%s, not %q" .problem $given) }}
{{- end }}
{{- end }}
{{- end }}`;

const cross = `{{- if and .Values.storage.enabled (gt (int .Values.replicas) 1) }}
{{- fail "replicas must be 1 with storage.enabled: one Pod at a time can open the volume" }}
{{- end }}
{{- $hold := $set.hold | default "${defaultOf("hold")}" }}
{{- $auto := and (eq $hold "auto") (eq ($set.karpenter | default "${defaultOf("karpenter")}") "v1") }}
{{- $maxHold := include "${holderName}.seconds" ($set.maxHold | default "${defaultOf("maxHold")}") | int64 }}
{{- $delay := include "${holderName}.seconds" ($set.initialDelay | default "${defaultOf("initialDelay")}") | int64 }}
{{- $length := eq $hold "auto" | ternary (min 1200 ($maxHold | default 1200)) (include "${holderName}.seconds" $hold) | int64 }}
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
{{- $isPool := eq ($set.scope | default "${defaultOf("scope")}") "nodepool" }}
{{- $numbers := dict ${numbered("SUN MON TUE WED THU FRI SAT")} ${numbered("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")} }}
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
{{- $schedule := regexFind "^[a-z]+\\\\([^()]*\\\\)" . }}
{{- $zone := trimPrefix $schedule . | trim | regexFind "^[A-Za-z][^ ]*" | default "UTC" }}
{{- $when := printf "%s %s %s" $schedule $zone $named }}
{{- if has $when $begun }}
{{- fail (printf "settings.holdDuring: %q has the same schedule, time zone and scope as another window" .) }}
{{- end }}
{{- $begun = append $begun $when }}
{{- $cron := regexFind "^cron\\\\([^()]*\\\\)" . }}
{{- if and $cron (not (regexMatch ${JSON.stringify(sixFields)} $cron)) }}
{{- fail (printf "settings.holdDuring: cron(…) must have six fields and ? for one of day of month and day of week, not %q" .) }}
{{- end }}
{{- range regexFindAll "[0-9A-Z]+-[0-9A-Z]+" (upper $cron) -1 }}
{{- $ends := list }}
{{- range splitList "-" . }}{{ $ends = append $ends (get $numbers . | default (atoi .)) }}{{ end }}
{{- if gt (first $ends) (last $ends) }}
{{- fail (printf "settings.holdDuring: the range %s goes backwards in %q" . $cron) }}
{{- end }}
{{- end }}
{{- $length := include "${holderName}.seconds" (regexFind " [0-9][0-9dhms]*( |$)" (regexReplaceAll "^[a-z]+\\\\([^()]*\\\\)" . "") | trim) | int64 }}
{{- if or (lt $length 60) (gt $length 604800) }}
{{- fail (printf "settings.holdDuring: for must be a duration from 1m to 168h in %q" .) }}
{{- end }}
{{- end }}`;
