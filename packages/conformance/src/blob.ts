/** What a createdEventBlob says of its contract: a protobuf message of Canton, with a version around it. */

interface BlobContract {
  /** In lower-case hexadecimal, as contract ids are written. */
  readonly contractId: string;
  /** `package:Module.Name:Entity`. */
  readonly templateId: string;
}

/** Undefined for what is no such message. */
export function readBlob(base64: string): BlobContract | undefined {
  try {
    const versioned = fieldsOf(Buffer.from(base64, "base64"));
    const contract = fieldsOf(versioned.get(PAYLOAD)?.[0] ?? Buffer.alloc(0));
    const template = fieldsOf(contract.get(TEMPLATE)?.[0] ?? Buffer.alloc(0));
    const names = (field: number) => (template.get(field) ?? []).flatMap(segmentsOf).join(".");
    const contractId = contract.get(CONTRACT_ID)?.[0]?.toString("hex") ?? "";
    const templateId = [names(PACKAGE), names(MODULE), names(ENTITY)].join(":");
    return contractId === "" || names(ENTITY) === "" ? undefined : { contractId, templateId };
  } catch {
    return undefined;
  }
}

/** Of a dotted name: a segment, or a message of segments, which some releases write. No segment begins with a line feed. */
const segmentsOf = (bytes: Buffer): readonly string[] =>
  bytes[0] === 0x0a ? (fieldsOf(bytes).get(1) ?? []).map((one) => one.toString()) : [bytes.toString()];

const PAYLOAD = 2;
const [CONTRACT_ID, TEMPLATE] = [1, 3];
const [PACKAGE, MODULE, ENTITY] = [1, 2, 3];

/** The fields with a length, by number; others are passed over. Throws for what is no message. */
function fieldsOf(bytes: Buffer): ReadonlyMap<number, readonly Buffer[]> {
  const fields = new Map<number, Buffer[]>();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 63) throw new Error("no number");
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const [field, wire] = [Math.floor(key / 8), key % 8];
    if (wire === 0) varint();
    else if (wire === 1) at += 8;
    else if (wire === 5) at += 4;
    else if (wire === 2) {
      const length = varint();
      if (at + length > bytes.length) throw new Error("cut off");
      const list = fields.get(field) ?? [];
      fields.set(field, list);
      list.push(bytes.subarray(at, at + length));
      at += length;
    } else throw new Error("no field");
  }
  return fields;
}
