import * as v from "valibot";
import { after, minutes } from "../core/duration.ts";
import type { CallContext, Metrics } from "../core/ports.ts";
import { fields, parse } from "../schemas/parse.ts";
import type { AccessConfig } from "./environment.ts";
import type { AccessPorts } from "./ports.ts";
import { removeOrReport } from "./removal.ts";
import { changeAccess, installAccess } from "./rules.ts";
import { adminRightResource } from "./template-names.ts";

/** The answer to CloudFormation: the resource's name, which stays the same. */
export type AccessAnswer = Readonly<{ PhysicalResourceId: string }>;

/** Opens the ports of the cluster; all work must end by `workUntil`. */
export type OpenCluster = (
  config: AccessConfig,
  workUntil: Date,
) => AccessPorts & Readonly<{ metrics: Metrics }>;

/** Kept free at the end of an invocation for giving the admin right back. */
const reserve = minutes(1);

// Nothing else of a request counts: cluster, annotation and roles come from the environment. The former cluster decides
// only whether an update that changes nothing, because the cluster has another holder, is a failure.
const request = fields({
  RequestType: v.picklist(["Create", "Update", "Delete"], "Create, Update or Delete"),
  ResourceType: v.optional(v.string("text")),
  PhysicalResourceId: v.optional(v.string("text")),
  OldResourceProperties: v.fallback(v.object({ cluster: v.optional(v.string()) }), {}),
});
type AccessRequest = v.InferOutput<typeof request>;

/**
 * A resource keeps its name, also once the holder works for another cluster: CloudFormation would delete the one of the
 * former name, and that deletion would clean up the cluster of the environment, the new one.
 */
const named = ({ PhysicalResourceId }: AccessRequest, first: string): AccessAnswer => ({
  PhysicalResourceId: PhysicalResourceId ?? first,
});

/** CloudFormation creates, updates or deletes what we own in the cluster. */
export function onClusterAccessChanged(config: () => AccessConfig, open: OpenCluster) {
  // Lambda keeps a function that has nothing to do for some minutes.
  let report: Error | undefined;
  return async (event: unknown, { deadline }: Pick<CallContext, "deadline">): Promise<AccessAnswer> => {
    const wanted = parse("This request cannot be used", request, event, "the request");
    const desired = config();
    const ports = open(desired, after(deadline, -reserve));
    if (wanted.ResourceType === adminRightResource) return changeAdminRight(wanted, desired, ports);
    if (wanted.RequestType === "Delete") {
      report = await removeOrReport(ports, desired, report !== undefined);
      if (report) throw report;
    } else {
      if (wanted.RequestType === "Create") await installAccess(ports, desired);
      else await changeAccess(ports, desired, wanted.OldResourceProperties.cluster);
      // Counts as a sweep: the timer, which is created next, has its first one due only after sweepEvery.
      ports.metrics.add("HoldActive", 0);
    }
    return named(wanted, `cluster-access/${desired.cluster}`);
  };
}

/**
 * A resource of its own, created before any work is done as an admin: when that work is killed, the rollback deletes
 * this resource and so gives the right back. The deletion never fails: that would keep the stack from being deleted.
 */
async function changeAdminRight(
  wanted: AccessRequest,
  { cluster, adminRole }: AccessConfig,
  { entries, log }: AccessPorts,
): Promise<AccessAnswer> {
  if (wanted.RequestType === "Delete")
    await entries.returnAdminRight().catch((error: unknown) => {
      const remedy = `aws eks delete-access-entry --cluster-name ${cluster} --principal-arn ${adminRole}`;
      log.error("the admin right could not be given back, if there was one", { cluster, remedy, error });
    });
  return named(wanted, `admin-right/${cluster}`);
}
