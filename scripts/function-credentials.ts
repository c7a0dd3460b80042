/**
 * Stands in the bundles for the SDK's search for credentials: Lambda gives a function its role's by environment, and
 * the sign-in clients of all other ways would be a fifth of each bundle.
 */
export { fromEnv as defaultProvider } from "@aws-sdk/credential-provider-env";
