// A component that show a name.
export const View = (p: { name: string }) => <b>{/* the name of it */ p.name}{"// no"}</b>;
