/** Files that settings name. */
import { z } from "zod";
import { check, type Checked, integer, mustBe, once, readOperatorFile } from "../util/operator-file.js";
import { SettingError } from "./setting.js";

/** Reads the file of a setting. Throws SettingError with every problem, its line and column. */
export async function readSettingFile<T>(
  variable: string,
  accepts: string,
  path: string,
  read: (value: unknown) => Checked<T>,
): Promise<T> {
  const { value, problems } = await readOperatorFile(path, read);
  if (problems === undefined) return value;
  throw new SettingError(variable, accepts, `\n${problems.join("\n")}`);
}

const text = z.string().regex(/\S/, mustBe("a non-empty string"));
const time = mustBe("a time in UTC such as 2026-01-31T12:00:00Z");

const entry = z.strictObject({
  name: text.optional(),
  symbol: text.optional(),
  /** At most the scale of a Daml Decimal. */
  decimals: integer(0, 10).optional(),
  description: text.optional(),
  pauseInfo: z
    .strictObject({
      reason: text.optional(),
      until: z.iso
        .datetime(time)
        .regex(/T\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/, time)
        .optional(),
    })
    .refine(({ reason, until }) => reason !== undefined || until !== undefined, "must have a reason or until")
    .optional(),
  showAccountInputFields: z.boolean().optional(),
  accountInputFieldsToShow: z
    .array(z.enum(["provider", "accountId"]))
    .superRefine(once)
    .optional(),
});

/** What the operator says of an instrument: docs/instruments.md. */
export type InstrumentEntry = z.infer<typeof entry> & z.infer<typeof ofAll>;
/** By registrar and instrument id, or `*`. */
type InstrumentEntries = ReadonlyMap<string, ReadonlyMap<string, InstrumentEntry>>;

/** What concerns all instruments of a registrar. */
const ofAll = z.strictObject({ hideVersion2: z.boolean().optional() });

const mapOf = (entries: Readonly<Record<string, InstrumentEntry | undefined>>): Map<string, InstrumentEntry> =>
  new Map(Object.entries(entries).flatMap(([id, one]) => (one === undefined ? [] : [[id, one] as const])));

const registrars = z
  .record(z.string(), z.object({ "*": ofAll.optional() }).catchall(entry))
  .nullable()
  .transform((file) => new Map(Object.entries(file ?? {}).map(([id, one]) => [id, mapOf(one)])));

export const checkInstruments = (value: unknown): Checked<InstrumentEntries> => check(registrars, value);

/** Reads the instruments file; empty without a path. Throws SettingError with every problem. */
export const readInstruments = async (path: string | undefined): Promise<InstrumentEntries> =>
  path === undefined
    ? new Map()
    : readSettingFile("OFFLEDGER_INSTRUMENTS", "the path of a YAML file of instruments", path, checkInstruments);
