import * as v from "valibot";
import { isAnnotationKey } from "../core/marks/keys.ts";
import { type Rules, writesNodeEvents } from "../core/rules.ts";
import { SettingEnvironment } from "../environment.ts";
import { fields, matching, parse, textAs } from "../schemas/parse.ts";
import { AccessEnvironment } from "./template-names.ts";

/** What this function works on. It is read from the environment alone, never from a request. */
export type AccessConfig = Readonly<{
  cluster: string;
  /** What commands take as `--cluster`. */
  name: string;
  holdAnnotation: string;
  mode: Rules["mode"];
  auto: boolean;
  nodeEvents: boolean;
  /** The role that this function runs in. */
  adminRole: string;
  /** The roles of the holder's functions. */
  roles: readonly string[];
}>;

const roleArn = /^arn:[\w-]+:iam::\d{12}:role\/.+$/;

const environment = fields({
  [SettingEnvironment.cluster]: matching(/./, "the name of the cluster"),
  [SettingEnvironment.holdAnnotation]: textAs("an annotation key with a prefix", (key) =>
    isAnnotationKey(key) ? key : undefined,
  ),
  [SettingEnvironment.mode]: v.picklist(["hold", "observe"], "hold or observe"),
  [SettingEnvironment.hold]: matching(/./, "a duration or auto"),
  // Templates of before this setting have none.
  [SettingEnvironment.nodeEvents]: v.optional(v.picklist(["false", "true"], "false or true"), "false"),
  [AccessEnvironment.name]: v.optional(v.string("text")),
  [AccessEnvironment.adminRole]: matching(roleArn, "the ARN of a role"),
  [AccessEnvironment.roles]: textAs("the ARNs of roles, separated by commas", (text) => {
    const roles = text.split(",");
    return roles.every((role) => roleArn.test(role)) ? roles : undefined;
  }),
});

export function readAccessConfig(env: Readonly<Record<string, string | undefined>>): AccessConfig {
  const read = parse("Cannot start", environment, env, "the environment");
  const mode = read[SettingEnvironment.mode];
  return {
    cluster: read[SettingEnvironment.cluster],
    name: read[AccessEnvironment.name] ?? read[SettingEnvironment.cluster],
    holdAnnotation: read[SettingEnvironment.holdAnnotation],
    mode,
    auto: read[SettingEnvironment.hold] === "auto",
    nodeEvents: writesNodeEvents({ mode, nodeEvents: read[SettingEnvironment.nodeEvents] === "true" }),
    adminRole: read[AccessEnvironment.adminRole],
    roles: read[AccessEnvironment.roles],
  };
}
