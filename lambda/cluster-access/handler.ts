import { Fields } from "../handlers/fields.ts";
import { type AccessPorts, changeAccess, type DesiredAccess, installAccess, removeAccess } from "./rules.ts";

/** What CloudFormation is told: the resource's name, the same for the same cluster. */
export type AccessAnswer = Readonly<{ PhysicalResourceId: string }>;

/** Where a wish is carried out: the ports of that cluster, with the role that may become its admin. */
export type OpenCluster = (cluster: string, adminRole: string) => AccessPorts;

type DesiredAccessOfRole = DesiredAccess & Readonly<{ adminRole: string }>;

/** CloudFormation creates, updates or deletes what we own in the cluster. */
export const onClusterAccessChanged =
  (open: OpenCluster) =>
  async (event: unknown): Promise<AccessAnswer> => {
    const { request, wish, before, name } = parseAccessChange(event);
    const ports = open(wish.cluster, wish.adminRole);
    if (request === "Delete") await removeAccess(ports, wish);
    else if (before?.cluster === wish.cluster) await changeAccess(ports, before, wish);
    else await installAccess(ports, wish);
    // Another cluster is another name: CloudFormation then deletes the resource of the old one.
    return { PhysicalResourceId: request === "Delete" ? name : `cluster-access/${wish.cluster}` };
  };

type AccessChange = Readonly<{
  request: string;
  wish: DesiredAccessOfRole;
  before: DesiredAccessOfRole | undefined;
  name: string;
}>;

/*
{ "RequestType": "Update", "PhysicalResourceId": "cluster-access/prod", …,
  "ResourceProperties": { "ServiceToken": "arn:…", "cluster": "prod", "holdAnnotation": "karpenter.sh/do-not-disrupt",
    "principals": ["arn:aws:iam::123456789012:role/…"], "adminRole": "arn:…", "bundle": "…" },
  "OldResourceProperties": { … } }
*/
function parseAccessChange(event: unknown): AccessChange {
  const fields = new Fields("This request cannot be used");
  const read = fields.object(event, "the event");
  const request = fields.text(
    read.RequestType,
    "RequestType",
    "Create, Update or Delete",
    /^(Create|Update|Delete)$/,
  );
  const wish = parseDesired(fields, read.ResourceProperties, "ResourceProperties");
  const old = read.OldResourceProperties;
  const before = request === "Update" ? parseDesired(fields, old, "OldResourceProperties") : undefined;
  const name = request === "Create" ? "" : fields.text(read.PhysicalResourceId, "PhysicalResourceId");
  fields.end();
  return { request, wish, before, name };
}

function parseDesired(fields: Fields, value: unknown, path: string): DesiredAccessOfRole {
  const wish = fields.object(value, path);
  return {
    cluster: fields.text(wish.cluster, `${path}.cluster`),
    holdAnnotation: fields.text(wish.holdAnnotation, `${path}.holdAnnotation`),
    adminRole: fields.text(wish.adminRole, `${path}.adminRole`, "a role's ARN", roleArn),
    principals: fields.list(wish.principals, `${path}.principals`, (item, at) =>
      fields.text(item, at, "a role's ARN", roleArn),
    ),
  };
}

const roleArn = /^arn:[\w-]+:iam::\d{12}:role\/.+$/;
