/** The version in every log line and probe answer; a test compares it with package.json. */
export const version = "0.2.0";
