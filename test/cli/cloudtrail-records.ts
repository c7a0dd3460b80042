import { at } from "./karpenter-lines.ts";

/** The id of the nth instance. */
export const idOf = (n: number): string => `i-${String(n).padStart(17, "0")}`;

const role = "KarpenterController-prod";
const ownTags = (cluster: string) => ({
  "karpenter.sh/nodepool": "batch",
  "eks:eks-cluster-name": cluster,
  [`kubernetes.io/cluster/${cluster}`]: "owned",
});

/** Karpenter, logged in by a service account of the cluster; sessions differ, the role does not. */
export const karpenter = {
  type: "AssumedRole",
  arn: `arn:aws:sts::111122223333:assumed-role/${role}/1731700000000000000`,
  sessionContext: { sessionIssuer: { type: "Role", arn: `arn:aws:iam::111122223333:role/${role}` } },
};

// The fields of a record that are read, and other fields that could be confused with them.
const record = (eventName: string, minute: number) => ({
  userIdentity: karpenter as object,
  // Whole seconds, as CloudTrail reports them.
  eventTime: at(minute).toISOString().replace(".000Z", "Z"),
  eventName,
  awsRegion: "us-east-1",
  recipientAccountId: "111122223333",
});

const answered = (instanceType: string) => ({
  overrides: { instanceType, subnetId: "subnet-0123456789abcdef0" },
});

/** A fleet that Karpenter asked for: XML as JSON, so a list of one item is no list, and an empty list is a text. */
export const fleet = (n: number, minute: number, cluster = "prod", also: readonly number[] = []) => ({
  ...record("CreateFleet", minute),
  requestParameters: {
    CreateFleetRequest: {
      Type: "instant",
      LaunchTemplateConfigs: {
        tag: 1,
        Overrides: ["c5.large", "m5.large"].map((InstanceType, i) => ({ InstanceType, tag: i + 1 })),
      },
      TagSpecification: ["instance", "volume", "fleet"].map((ResourceType, i) => ({
        ResourceType,
        tag: i + 1,
        Tag: Object.entries(ownTags(cluster)).map(([Key, Value], tag) => ({ Value, tag, Key })),
      })),
    },
  },
  responseElements: {
    CreateFleetResponse: {
      fleetId: "fleet-01234567-89ab-cdef-0123-456789abcdef",
      fleetInstanceSet: {
        item: {
          lifecycle: "spot",
          instanceIds: { item: also.length > 0 ? [n, ...also].map(idOf) : idOf(n) },
          instanceType: "m5.large",
          launchTemplateAndOverrides: answered("m5.large"),
        },
      },
      errorSet: "",
    },
  },
});

/** A fleet for which there was no capacity: it is no error of the call, and nothing was launched. */
export const fleetInVain = (n: number, minute: number) => {
  const errorCode = "InsufficientInstanceCapacity";
  const errorSet = { item: { launchTemplateAndOverrides: answered("m5.large"), errorCode } };
  const responseElements = { CreateFleetResponse: { fleetInstanceSet: "", errorSet } };
  return { ...fleet(n, minute), responseElements };
};

/** The call that the fleet made in Karpenter's name. */
export const run = (n: number, minute: number, cluster = "prod") => {
  const tags = Object.entries(ownTags(cluster)).map(([key, value]) => ({ key, value }));
  return {
    ...record("RunInstances", minute),
    userIdentity: { ...karpenter, invokedBy: "ec2fleet.amazonaws.com" },
    requestParameters: {
      instanceType: "m5.large",
      tagSpecificationSet: { items: [{ resourceType: "instance", tags }] },
    },
    responseElements: {
      reservationId: "r-0123456789abcdef0",
      instancesSet: {
        items: [{ instanceId: idOf(n), imageId: "ami-0123456789abcdef0", instanceType: "m5.large" }],
      },
    },
  };
};

export const terminate = (n: number, minute: number, userIdentity: object = karpenter) => ({
  ...record("TerminateInstances", minute),
  userIdentity,
  responseElements: { instancesSet: { items: [{ instanceId: idOf(n), currentState: { code: 32 } }] } },
});

/** EC2 interrupts a spot instance: an event of the service, not a call. */
export const evict = (n: number, minute: number) => ({
  ...record("BidEvictedEvent", minute),
  userIdentity: { accountId: "111122223333", invokedBy: "ec2.amazonaws.com" },
  responseElements: null,
  serviceEventDetails: { instanceIdSet: [idOf(n)] },
});
