/** Runs random scripts, one for each seed, and prints figures. */
import { run } from "./run.js";
import { scriptOf } from "./script.js";

export async function runAll(first: number, scripts: number) {
  const failed: string[] = [];
  let [served, refused, reached, gaveUp] = [0, 0, 0, 0];
  const begun = performance.now();
  for (let seed = first; seed < first + scripts; seed++) {
    const outcome = await run(scriptOf(seed), seed);
    served += outcome.served;
    refused += outcome.refused;
    reached += outcome.reached;
    gaveUp += outcome.gaveUp;
    if (outcome.wrong !== undefined) failed.push(`seed ${seed}: ${outcome.wrong}`);
  }
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const figures = `${served} states served, ${refused} refused, ${reached} waits reached, ${gaveUp} not, ${failed.length} failed`;
  console.log(`${scripts} scripts from seed ${first} in ${seconds} s: ${figures}`);
  return { failed, served, refused, reached, gaveUp };
}
