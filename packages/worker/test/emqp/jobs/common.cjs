const name = 'computed';
module.exports = { [name]: () => 'common' };
