/** The version in every log line and probe answer; a test holds it to package.json's. */
export const version = "0.2.0";
