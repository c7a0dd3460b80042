/** The function's environment variables beside those of the settings. */
export const AccessEnvironment = {
  adminRole: "ADMIN_ROLE_ARN",
  roles: "ADMITTED_ROLE_ARNS",
  /** Where the holder is not called after its cluster. */
  name: "HOLDER_NAME",
} as const;

/** The custom resources that the function serves. */
export const accessResource = "Custom::KarpenterNodeHolderAccess";
export const adminRightResource = "Custom::KarpenterNodeHolderAdminRight";
