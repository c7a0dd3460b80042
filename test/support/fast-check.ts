import fc from "fast-check";

// The same inputs at every `npm test`, so that a failure is caused by a change; FUZZ_SEED=7 plays others.
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 42) });

export default fc;
