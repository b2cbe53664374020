/** The machine and the time of a measurement. */
import { cpus, release, totalmem, type as system } from "node:os";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  readonly date: string;
  readonly database?: string;
}

export function readMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    os: `${system()} ${release()}`,
    node: process.version,
    date: new Date().toISOString().slice(0, 16).replace("T", " "),
  };
}

export function formatMachine({ cpu, cores, memoryGiB, os, node, date, database }: Machine): string {
  const parts = [cpu, `${cores} cores`, `${memoryGiB} GiB`, os, `Node.js ${node}`, database, `${date} UTC`];
  return parts.filter((part) => part !== undefined).join(", ");
}
