import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest, the longest first. Vitest itself knows that only from an earlier run, which a fresh clone has not had. */
const longest = [
  "test/local/run.test.ts",
  "test/model/model.test.ts",
  "test/infra/package.test.ts",
  "test/infra/app.test.ts",
];

/** Begins with what takes longest, so that no file is still at work alone when all others are done. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((file) => moduleId.endsWith(`/${file}`));
  return place < 0 ? longest.length : place;
}
