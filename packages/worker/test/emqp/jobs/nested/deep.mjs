export const where = () => 'deep';
