/**
 * Replaces the SDK's credential chain in the bundles. Lambda passes the role's credentials in the environment, and the
 * clients for all other ways to sign in would be a fifth of each bundle.
 */
export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";
