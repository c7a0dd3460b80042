type Partition = Readonly<{ name: string; dnsSuffix: string }>;

const commercial: Partition = { name: "aws", dnsSuffix: "amazonaws.com" };

/** The partitions beside the commercial one, each by how its regions' names begin. */
const others: readonly (Partition & Readonly<{ regions: RegExp }>)[] = [
  { regions: /^cn-/, name: "aws-cn", dnsSuffix: "amazonaws.com.cn" },
  { regions: /^us-gov-/, name: "aws-us-gov", dnsSuffix: "amazonaws.com" },
  { regions: /^eusc-/, name: "aws-eusc", dnsSuffix: "amazonaws.eu" },
  { regions: /^us-iso-/, name: "aws-iso", dnsSuffix: "c2s.ic.gov" },
  { regions: /^us-isob-/, name: "aws-iso-b", dnsSuffix: "sc2s.sgov.gov" },
  { regions: /^eu-isoe-/, name: "aws-iso-e", dnsSuffix: "cloud.adc-e.uk" },
  { regions: /^us-isof-/, name: "aws-iso-f", dnsSuffix: "csp.hci.ic.gov" },
];

/** The partition of a region, which names its ARNs and the hosts of its services. */
export const partitionOf = (region: string): Partition =>
  others.find(({ regions }) => regions.test(region)) ?? commercial;
