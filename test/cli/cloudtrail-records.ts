import { after, minutes } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";

/** A minute of the scaled day. */
export const at = (minute: number): Date => after(noon, minutes(minute));

/** The id of the nth instance. */
export const idOf = (n: number): string => `i-${String(n).padStart(17, "0")}`;

const role = "KarpenterController-prod";
const ownTags = (cluster: string) => ({
  Name: "batch",
  "karpenter.sh/nodepool": "batch",
  "karpenter.sh/nodeclaim": "batch-7jt52",
  "eks:eks-cluster-name": cluster,
  [`kubernetes.io/cluster/${cluster}`]: "owned",
});

/** Karpenter, logged in by a service account of the cluster; sessions differ, the role does not. */
export const karpenter = {
  type: "AssumedRole",
  principalId: "AROA1234567890EXAMPLE:1731700000000000000",
  arn: `arn:aws:sts::111122223333:assumed-role/${role}/1731700000000000000`,
  accountId: "111122223333",
  accessKeyId: "ASIA1234567890EXAMPLE",
  sessionContext: {
    sessionIssuer: {
      type: "Role",
      principalId: "AROA1234567890EXAMPLE",
      arn: `arn:aws:iam::111122223333:role/${role}`,
      accountId: "111122223333",
      userName: role,
    },
    webIdFederationData: {
      federatedProvider: "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/0",
      attributes: {},
    },
    attributes: { creationDate: "2026-11-21T11:50:12Z", mfaAuthenticated: "false" },
  },
};

const record = (eventName: string, eventID: string, minute: number) => ({
  eventVersion: "1.11",
  userIdentity: karpenter as object,
  // Whole seconds, as CloudTrail reports them.
  eventTime: at(minute).toISOString().replace(".000Z", "Z"),
  eventSource: "ec2.amazonaws.com",
  eventName,
  awsRegion: "us-east-1",
  sourceIPAddress: "192.0.2.10",
  userAgent: "aws-sdk-go-v2/1.41.0 os/linux lang/go#1.26.0 api/ec2#1.290.0 karpenter.sh-1.14.1",
  requestID: `request-${eventID}`,
  eventID,
  readOnly: false,
  eventType: "AwsApiCall",
  managementEvent: true,
  recipientAccountId: "111122223333",
  eventCategory: "Management",
});

const override = (instanceType: string) => ({
  InstanceType: instanceType,
  SubnetId: "subnet-0123456789abcdef0",
  AvailabilityZone: "us-east-1a",
  ImageId: "ami-0123456789abcdef0",
});
const taggedAs = (ResourceType: string, tag: number, tags: Readonly<Record<string, string>>) => ({
  ResourceType,
  tag,
  Tag: Object.entries(tags).map(([Key, Value], i) => ({ Value, tag: i + 1, Key })),
});

/** A fleet that Karpenter asked for: XML reported as JSON, so a list of one is no list and an empty one is a text. */
export const fleet = (n: number, minute: number, cluster = "prod", also: readonly number[] = []) => ({
  ...record("CreateFleet", `fleet-${n}`, minute),
  requestParameters: {
    CreateFleetRequest: {
      TargetCapacitySpecification: {
        DefaultTargetCapacityType: "spot",
        TotalTargetCapacity: 1 + also.length,
      },
      Type: "instant",
      SpotOptions: { AllocationStrategy: "price-capacity-optimized" },
      LaunchTemplateConfigs: {
        tag: 1,
        Overrides: ["c5.large", "m5.large"].map((type, i) => ({ ...override(type), tag: i + 1 })),
        LaunchTemplateSpecification: {
          LaunchTemplateName: "karpenter.k8s.aws/1234567890123456789",
          Version: "$Latest",
        },
      },
      TagSpecification: ["instance", "volume", "fleet"].map((type, i) =>
        taggedAs(type, i + 1, ownTags(cluster)),
      ),
    },
  },
  responseElements: {
    CreateFleetResponse: {
      xmlns: "http://ec2.amazonaws.com/doc/2016-11-15/",
      requestId: `request-fleet-${n}`,
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

const answered = (instanceType: string) => ({
  overrides: { subnetId: "subnet-0123456789abcdef0", instanceType, availabilityZone: "us-east-1a" },
  launchTemplateSpecification: { launchTemplateId: "lt-0123456789abcdef0", version: 1 },
});

/** A fleet for which there was no capacity: it is no error of the call, and nothing was launched. */
export const fleetInVain = (n: number, minute: number) => {
  const whole = fleet(n, minute);
  const { CreateFleetResponse } = whole.responseElements;
  const errorSet = {
    item: {
      lifecycle: "spot",
      launchTemplateAndOverrides: answered("m5.large"),
      errorCode: "InsufficientInstanceCapacity",
      errorMessage: "We currently do not have sufficient m5.large capacity.",
    },
  };
  return {
    ...whole,
    responseElements: { CreateFleetResponse: { ...CreateFleetResponse, fleetInstanceSet: "", errorSet } },
  };
};

/** The call that the fleet made in Karpenter's name. */
export const run = (n: number, minute: number, cluster = "prod") => {
  const tags = { ...ownTags(cluster), "aws:ec2:fleet-id": "fleet-01234567-89ab-cdef-0123-456789abcdef" };
  return {
    ...record("RunInstances", `run-${n}`, minute),
    userIdentity: { ...karpenter, invokedBy: "ec2fleet.amazonaws.com" },
    sourceIPAddress: "ec2fleet.amazonaws.com",
    userAgent: "ec2fleet.amazonaws.com",
    requestParameters: {
      instancesSet: { items: [{ minCount: 1, maxCount: 1 }] },
      instanceType: "m5.large",
      blockDeviceMapping: {},
      availabilityZone: "us-east-1a",
      monitoring: { enabled: false },
      subnetId: "subnet-0123456789abcdef0",
      disableApiTermination: false,
      tagSpecificationSet: {
        items: [
          { resourceType: "instance", tags: Object.entries(tags).map(([key, value]) => ({ key, value })) },
        ],
      },
    },
    responseElements: {
      requestId: `request-run-${n}`,
      reservationId: "r-0123456789abcdef0",
      ownerId: "111122223333",
      groupSet: {},
      instancesSet: {
        items: [
          {
            instanceId: idOf(n),
            imageId: "ami-0123456789abcdef0",
            instanceState: { code: 0, name: "pending" },
            instanceType: "m5.large",
            launchTime: at(minute).getTime(),
          },
        ],
      },
      requesterId: "123456789012",
    },
  };
};

export const terminate = (n: number, minute: number, userIdentity: object = karpenter) => ({
  ...record("TerminateInstances", `end-${n}`, minute),
  userIdentity,
  requestParameters: { instancesSet: { items: [{ instanceId: idOf(n) }] } },
  responseElements: {
    requestId: `request-end-${n}`,
    instancesSet: {
      items: [
        {
          instanceId: idOf(n),
          currentState: { code: 32, name: "shutting-down" },
          previousState: { code: 16, name: "running" },
        },
      ],
    },
  },
});

/** EC2 takes a spot instance back: no call, but an event of the service. */
export const evict = (n: number, minute: number) => ({
  ...record("BidEvictedEvent", `evicted-${n}`, minute),
  userIdentity: { accountId: "111122223333", invokedBy: "ec2.amazonaws.com" },
  sourceIPAddress: "ec2.amazonaws.com",
  userAgent: "ec2.amazonaws.com",
  eventType: "AwsServiceEvent",
  requestParameters: null,
  responseElements: null,
  serviceEventDetails: { instanceIdSet: [idOf(n)] },
});
