/** How many files this process may have open (`ulimit -n`; Node raises it as far as it may); undefined: without limit. */
export function openFilesLimit(): number | undefined {
  // Or it looks up the names of all addresses that are connected.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : undefined;
}
