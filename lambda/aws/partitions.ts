type Partition = Readonly<{ name: string; dnsSuffix: string; consoleDomain: string }>;

const commercial: Partition = {
  name: "aws",
  dnsSuffix: "amazonaws.com",
  consoleDomain: "console.aws.amazon.com",
};

/** The partitions beside the commercial one, each by how its regions' names begin. */
const others: readonly (Partition & { readonly regions: RegExp })[] = [
  {
    regions: /^cn-/,
    name: "aws-cn",
    dnsSuffix: "amazonaws.com.cn",
    consoleDomain: "console.amazonaws.cn",
  },
  {
    regions: /^us-gov-/,
    name: "aws-us-gov",
    dnsSuffix: "amazonaws.com",
    consoleDomain: "console.amazonaws-us-gov.com",
  },
  {
    regions: /^eusc-/,
    name: "aws-eusc",
    dnsSuffix: "amazonaws.eu",
    consoleDomain: "console.amazonaws-eusc.eu",
  },
  {
    regions: /^us-iso-/,
    name: "aws-iso",
    dnsSuffix: "c2s.ic.gov",
    consoleDomain: "console.c2shome.ic.gov",
  },
  {
    regions: /^us-isob-/,
    name: "aws-iso-b",
    dnsSuffix: "sc2s.sgov.gov",
    consoleDomain: "console.sc2shome.sgov.gov",
  },
  {
    regions: /^eu-isoe-/,
    name: "aws-iso-e",
    dnsSuffix: "cloud.adc-e.uk",
    consoleDomain: "console.cloud.adc-e.uk",
  },
  {
    regions: /^us-isof-/,
    name: "aws-iso-f",
    dnsSuffix: "csp.hci.ic.gov",
    consoleDomain: "console.csp.hci.ic.gov",
  },
];

/** The partition of a region, which names its ARNs, the hosts of its services and its console. */
export const partitionOf = (region: string): Partition =>
  others.find(({ regions }) => regions.test(region)) ?? commercial;

export const partitions: readonly Partition[] = [commercial, ...others];
