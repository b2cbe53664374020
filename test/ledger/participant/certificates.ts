/** Certificates of an own authority, made by the openssl command line. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether there is an openssl to make them with. */
export const canCertify = spawnSync("openssl", ["version"]).status === 0;

/** All PEM. */
export interface Certified {
  /** The certificate of the authority. */
  readonly ca: string;
  /** Of a server at 127.0.0.1, and by no other name. */
  readonly key: string;
  readonly cert: string;
}

/** Makes a new authority, and a certificate by it. */
export function certify(): Certified {
  const folder = mkdtempSync(join(tmpdir(), "offledger-tls-"));
  const at = (file: string) => join(folder, file);
  const text = (file: string) => readFileSync(at(file), "utf8");
  try {
    const ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    openssl("req", "-x509", ...ec, "-keyout", at("ca.key"), "-out", at("ca.pem"), "-days", "2", "-subj", "/CN=own");
    openssl("req", ...ec, "-keyout", at("key.pem"), "-out", at("csr.pem"), "-subj", "/CN=participant");
    writeFileSync(at("extensions"), "subjectAltName=IP:127.0.0.1\n");
    const signed = ["x509", "-req", "-in", at("csr.pem"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-days", "2"];
    openssl(...signed, "-CAcreateserial", "-extfile", at("extensions"), "-out", at("cert.pem"));
    return { ca: text("ca.pem"), key: text("key.pem"), cert: text("cert.pem") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function openssl(...args: readonly string[]): void {
  execFileSync("openssl", args, { stdio: "pipe" });
}
